import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../../support/eventually.ts";
import { type LaunchedWaybill, launchWaybill, type Surroundings } from "../../support/waybill.ts";

/** A process of the service, started again when it has ended, by default a second later, as systemd does it. */
export type SupervisedProcess = {
  readonly name: string;
  /** SIGKILL. */
  kill(): void;
  /** SIGTERM; returns when its successor is ready. Throws where it does not end with 0. */
  restart(): Promise<void>;
  untilReady(): Promise<void>;
  /** Each time that it ended and nothing here had ended it, with its last words. */
  readonly ownEnds: readonly string[];
  /** What it has printed, with what those before it have. */
  output(): string;
  /** Ends it for good. */
  stop(): Promise<void>;
};

const restartAfterCrashMs = 1000;
/** On a busy machine; it is two seconds on one that is not. */
const readyWithinMs = 60_000;
const lengthOfLastWords = 2000;

export function superviseProcess(
  name: string,
  surroundings: Surroundings,
  roles: string,
  env: Readonly<Record<string, string>>,
  restartAfterMs = restartAfterCrashMs,
): SupervisedProcess {
  const ownEnds: string[] = [];
  const stopping = new AbortController();
  const launch = (): LaunchedWaybill => launchWaybill(surroundings, roles, env);
  let current = launch();
  let isEnding = false;
  let earlier = "";
  const supervise = async (): Promise<void> => {
    for (;;) {
      const code = await current.exitCode();
      if (stopping.signal.aborted) return;
      if (!isEnding)
        ownEnds.push(`${name} ended by itself with ${code}: ${current.output().slice(-lengthOfLastWords)}`);
      isEnding = false;
      earlier += `${current.output()}--- ended with ${code} at ${new Date().toISOString()}\n`;
      await pause(restartAfterMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      current = launch();
    }
  };
  const supervising = supervise();
  const untilReady = (): Promise<void> =>
    eventually(() => {
      if (!current.isReady()) throw new Error(`${name} is not ready: ${earlier}${current.output()}`);
    }, readyWithinMs);
  return {
    name,
    ownEnds,
    kill: () => {
      isEnding = true;
      void current.kill();
    },
    restart: async () => {
      isEnding = true;
      const ending = current;
      const code = await ending.terminate();
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${ending.output().slice(-lengthOfLastWords)}`);
      await eventually(() => {
        if (current === ending) throw new Error(`${name} was not started again`);
      });
      await untilReady();
    },
    untilReady,
    output: () => earlier + current.output(),
    stop: async () => {
      stopping.abort();
      await current.kill();
      await supervising;
    },
  };
}
