import { setTimeout as pause } from "node:timers/promises";
import type { ChildServer } from "./child-server.ts";
import type { Print } from "./install-servers.ts";

/** What the loop needs of a server. */
type Running = Pick<ChildServer, "exited" | "stop" | "lastWords">;

export type KeptServer = {
  readonly name: string;
  /** What the service does without the server. */
  readonly untilThen: string;
};

const longestPauseMs = 30_000;
/** A server that ran for as long as this did not end because of how it was started. */
const ranWellMs = 60_000;

/**
 * Starts a server, and starts it again whenever it ends by itself, until it is stopped: at once if it ran for a minute, and
 * else after a pause that grows to half a minute. `startAgain` gets the first server, so that the next one has the same
 * address and password, and the signal to give up. Calls `print` with a line for people when the server ends, when it
 * cannot be started, and when it runs again. Returns the first server, but `stop` stops the one that runs. A failure of the
 * first start is thrown.
 */
export async function keepRunning<Server extends Running>(
  { name, untilThen }: KeptServer,
  start: () => Promise<Server>,
  startAgain: (first: Server, stopping: AbortSignal) => Promise<Running>,
  print: Print,
  firstPauseMs = 1_000,
): Promise<Server> {
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  const first = await start();
  let current: Running = first;
  const longer = (pauseMs: number): number => Math.min(longestPauseMs, Math.max(firstPauseMs, pauseMs * 2));

  const startedAfter = async (pauseMs: number): Promise<boolean> => {
    if (pauseMs > 0) await pause(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
    if (isStopping()) return false;
    try {
      current = await startAgain(first, stopping.signal);
      return true;
    } catch (failure) {
      const why = failure instanceof Error ? failure.message : String(failure);
      if (!isStopping()) print(`${name} could not be started again. ${why}`);
      return false;
    }
  };
  const watch = async (): Promise<void> => {
    let pauseMs = 0;
    for (;;) {
      const startedAt = performance.now();
      const code = await current.exited;
      if (isStopping()) return;
      print(`${name} ended by itself, with code ${code}. ${await current.lastWords()}`);
      print(`Waybill starts it again: nothing stored is lost. Until then ${untilThen}.`);
      pauseMs = performance.now() - startedAt >= ranWellMs ? 0 : longer(pauseMs);
      while (!(await startedAfter(pauseMs)) && !isStopping()) pauseMs = longer(pauseMs);
      if (isStopping()) return;
      print(`${name} runs again.`);
    }
  };
  const watching = watch();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await current.stop();
    await watching;
    // It may have been started at that moment.
    await current.stop();
  };
  return { ...first, stop };
}
