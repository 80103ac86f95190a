import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { eventually } from "../support/eventually.ts";

export type Ran = { readonly code: number; readonly printed: string };

/** What goes on while the next blocks run, in a process group of its own. */
export type Running = {
  printed(): Promise<string>;
  /** Ctrl-C; resolves when all of it is gone. */
  interrupt(): Promise<void>;
};

/** One bash from the first block to the last: variables, functions and the folder stay. */
export type Session = {
  /** With `isStrict`, as under `set -e`: the first command that fails ends the session. */
  run(script: string, options: { readonly isStrict: boolean }): Promise<Ran>;
  start(script: string): Promise<Running>;
  /** What all scripts have printed until now, each under its number. */
  printed(): Promise<string>;
  close(): Promise<void>;
};

export function openSession(folder: string, scratch: string, env: Readonly<Record<string, string>>): Session {
  const bash = spawn("bash", ["--noprofile", "--norc"], {
    cwd: folder,
    env,
    detached: true,
    stdio: ["pipe", "ignore", "ignore", "pipe"],
  });
  const answers = createInterface({ input: bash.stdio[3] as Readable })[Symbol.asyncIterator]();
  const exited = once(bash, "exit").then(([code]) => Number(code ?? 1));
  // A session that ended is known from its exit, not from the pipe that broke.
  bash.stdin?.on("error", () => {});
  // Where the tests are killed the session reads the end of its input, and takes what runs beside it along.
  bash.stdin?.write(`trap 'for job in $(jobs -p); do kill -- "-$job"; done' EXIT\n`);
  let count = 0;

  const prepare = async (script: string): Promise<{ readonly source: string; readonly output: string }> => {
    count += 1;
    const file = join(scratch, `block-${count}.sh`);
    await writeFile(file, script);
    // What it leaves in the background must not hold open what the session answers through.
    return { source: `source '${file}' </dev/null >'${file}.out' 2>&1 3>&-`, output: `${file}.out` };
  };
  /** The next line that the session itself says; null once it has ended. */
  const ask = async (commands: string): Promise<string | null> => {
    bash.stdin?.write(`${commands}\n`);
    const { value, done } = await answers.next();
    return done ? null : String(value);
  };

  return {
    printed: async () => {
      const outputs = Array.from({ length: count }, (_, index) => join(scratch, `block-${index + 1}.sh.out`));
      const texts = await Promise.all(outputs.map((output) => readFile(output, "utf8").catch(() => "")));
      return texts.map((text, index) => `${index + 1}: ${text}`).join("\n");
    },
    run: async (script, { isStrict }) => {
      const { source, output } = await prepare(script);
      const [before, after] = isStrict ? ["set -e", "set +e"] : ["", ""];
      const code = await ask(`${before}\n${source}\necho $? >&3\n${after}`);
      return { code: code === null ? await exited : Number(code), printed: await readFile(output, "utf8") };
    },
    start: async (script) => {
      const { source, output } = await prepare(script);
      // Job control gives it a process group, and lets it hear of Ctrl-C as in a terminal.
      const group = Number(await ask(`set -m\n( ${source} ) &\nset +m\necho $! >&3`));
      return { printed: () => readFile(output, "utf8").catch(() => ""), interrupt: () => end(group) };
    },
    close: async () => {
      bash.stdin?.end();
      // Also what a block left in the background with `&`, or one that never came to its end.
      if (bash.pid !== undefined) await end(bash.pid, "SIGTERM");
      await exited;
    },
  };
}

async function end(group: number, signal: NodeJS.Signals = "SIGINT"): Promise<void> {
  if (!isSent(group, signal)) return;
  const isGone = (): void => {
    if (isSent(group, 0)) throw new Error(`Process group ${group} goes on after ${signal}`);
  };
  await eventually(isGone, 20_000).catch((failure: unknown) => {
    isSent(group, "SIGKILL");
    throw failure;
  });
}

/** False where no process of the group is left. */
function isSent(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}
