import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CannotStart } from "../process/lifecycle.ts";
import { identifyProcess } from "./process-identity.ts";

/** A server that runs as a child process. It ends with this process, however this process ends. */
export type ChildServer = {
  readonly pid: number;
  /** Resolves with the exit code once the process is gone, whatever ended it. */
  readonly exited: Promise<number>;
  /** Sends SIGTERM, kills the server after ten seconds, and returns when it is gone. A second call is harmless. */
  stop(): Promise<void>;
  /** SIGKILL, as a crash would. */
  kill(): Promise<void>;
  /** The path and the last lines of its log, for an error message. */
  lastWords(): Promise<string>;
};

export type ChildServerOptions = {
  /** The name in messages: "nats-server". The log and the file with the process id are named after it. */
  readonly name: string;
  readonly binary: string;
  readonly args: readonly string[];
  /** Holds log and process id. It occurs in the arguments, which distinguishes an older server from a foreign process. */
  readonly folder: string;
};

/**
 * A process that is killed cannot clean up, so a small shell runs between this process and the server. The shell reads a
 * pipe from this process and learns from its end that this process is gone. The shell is the parent of the server, so it
 * also learns when the server ends by itself. Writing to a broken pipe would kill the shell, hence the brackets around
 * `echo`. The shell ends last: it waits for its children, and ends the `sleep` of its guard together with the guard. So
 * it leaves no orphan and no zombie to process 1, which in a container may not wait for children.
 */
const watchdog = `
pid_file=$1; shift
exec 3<&0
"$@" >&2 3<&- </dev/null &
server=$!
echo "$server" >"$pid_file"
(
  while read -r _ <&3; do :; done
  nap=
  trap 'kill "$nap"; wait; exit' TERM
  kill -TERM "$server"
  for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 1 & nap=$!; wait "$nap"; kill -0 "$server" || exit; done
  kill -KILL "$server"
) >/dev/null 2>&1 &
guard=$!
exec 3<&-
( echo "$server" ) 2>/dev/null
exec >/dev/null
wait "$server"
code=$?
rm -f "$pid_file"
kill "$guard" 2>/dev/null
wait "$guard" 2>/dev/null
exit "$code"
`;

/**
 * Starts the server once an older one on the same folder is gone. The server gets its own process group, so that Ctrl-C
 * in a terminal does not reach it: this process stops it when it no longer needs it.
 */
export async function startChildServer({ name, binary, args, folder }: ChildServerOptions): Promise<ChildServer> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const pidFile = join(folder, `${name}.pid`);
  const logFile = join(folder, `${name}.log`);
  await waitForPredecessor(name, pidFile, folder);
  await rename(logFile, join(folder, `${name}.old.log`)).catch(() => {});
  const log = await open(logFile, "a", 0o600);
  try {
    const child = spawn("/bin/sh", ["-c", watchdog, "waybill-watchdog", pidFile, binary, ...args], {
      cwd: folder,
      detached: true,
      stdio: ["pipe", "pipe", log.fd],
    });
    const exited = once(child, "exit").then(
      ([code]) => Number(code ?? 1),
      () => shellNotFound,
    );
    const pid = await readPid(child, name);
    return toChildServer({ child, exited, pid, logFile });
  } finally {
    await log.close();
  }
}

/** The exit code of a shell that cannot find a program; here the missing program is the shell itself. */
const shellNotFound = 127;

type Started = {
  readonly child: ChildProcess;
  readonly exited: Promise<number>;
  readonly pid: number;
  readonly logFile: string;
};

function toChildServer({ child, exited, pid, logFile }: Started): ChildServer {
  let isGone = false;
  const gone = exited.then((code) => {
    isGone = true;
    return code;
  });
  return {
    pid,
    exited: gone,
    stop: async () => {
      child.stdin?.end();
      await gone;
    },
    kill: async () => {
      if (!isGone) process.kill(pid, "SIGKILL");
      await gone;
    },
    lastWords: async () => {
      const lines = (await readFile(logFile, "utf8").catch(() => "")).trimEnd().split("\n").slice(-8);
      return [`Its log, ${logFile}, ends with:`, ...lines.map((line) => `  ${line}`)].join("\n");
    },
  };
}

async function readPid({ stdout, stdin }: ChildProcess, name: string): Promise<number> {
  // The pipe carries no data. It breaks when the server ends, which the exit already reports.
  stdin?.on("error", () => {});
  for await (const chunk of stdout ?? []) {
    const pid = Number(String(chunk).trim());
    if (Number.isInteger(pid) && pid > 0) return pid;
  }
  throw new CannotStart(`${name} could not be started: /bin/sh did not run it`);
}

/** After a SIGKILL of its parent a server takes a moment to end, and two of them must never share a folder. */
async function waitForPredecessor(name: string, pidFile: string, folder: string): Promise<void> {
  const pid = Number(await readFile(pidFile, "utf8").catch(() => "0"));
  if (!(pid > 0)) return;
  const deadline = Date.now() + 15_000;
  while ((await identifyProcess(pid))?.command.includes(folder)) {
    if (Date.now() > deadline) {
      throw new CannotStart(`An older ${name} (process ${pid}) still uses ${folder} and does not end; end it first`);
    }
    await pause(20);
  }
  await rm(pidFile, { force: true });
}

/** A signal ended the wait for a server: this is not a fault. */
export class StartStopped extends CannotStart {}

/** How a server that was just started is waited for. */
export type StartPatience = {
  /** Gets a line for people while the server is not ready: for how long so far, and the last lines of its log. */
  readonly onSlow?: (line: string) => void;
  /** The time until the first such line; the next ones come after 2, 4, 8 … times as long. */
  readonly slowAfterMs?: number;
  /** Ends the wait, and the server. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Polls a server that was just started until it answers, and returns the answer. A server that recovers its data after a
 * crash may need minutes, and would begin anew if it was stopped: as long as its process lives, it is waited for. The error
 * of one that ends meanwhile contains the last lines of its log.
 */
export async function untilReady<Answer>(
  server: ChildServer,
  name: string,
  ask: () => Promise<Answer | null>,
  patience: StartPatience = {},
): Promise<Answer> {
  try {
    return await askUntilAnswered(server, name, ask, patience);
  } catch (failure) {
    await server.stop();
    throw failure;
  }
}

/** Between two questions, while a usual start lasts, and later. */
const [soonMs, laterMs] = [10, 200];
const usualStartMs = 10_000;

async function askUntilAnswered<Answer>(
  server: ChildServer,
  name: string,
  ask: () => Promise<Answer | null>,
  { onSlow = () => {}, slowAfterMs = 30_000, signal }: StartPatience,
): Promise<Answer> {
  const startedAt = performance.now();
  let sayAfterMs = slowAfterMs;
  let exitCode: number | null = null;
  void server.exited.then((code) => {
    exitCode = code;
  });
  for (;;) {
    // The exit is checked first, so that the answer of another program on the port does not count for an ended server.
    const answer = await ask();
    if (exitCode !== null) {
      throw new CannotStart(`${name} ended with code ${exitCode} while starting. ${await server.lastWords()}`);
    }
    if (answer !== null) return answer;
    if (signal?.aborted) throw new StartStopped(`${name} was stopped before it was ready.`);
    const waitedMs = performance.now() - startedAt;
    if (waitedMs >= sayAfterMs) {
      const seconds = Math.round(waitedMs / 1000);
      onSlow(
        `${name} is not ready after ${seconds} s, and is waited for: it may be recovering. ${await server.lastWords()}`,
      );
      sayAfterMs *= 2;
    }
    await pause(waitedMs < usualStartMs ? soonMs : laterMs);
  }
}
