import type { Surroundings } from "../../support/waybill.ts";
import { type ColdAndWarm, coldAndWarm } from "../cold-and-warm.ts";
import { startProcess } from "../deployment.ts";
import type { HttpLoadResult } from "../load/http-load.ts";
import { startLoad, toPosting } from "../load/start-load.ts";
import type { Bench, Stage } from "../row.ts";
import { mailing } from "../the-mail.ts";

const connections = 32;
const atMostMs = 5000;
const untilReadyMs = 1000;
const otherRoles = ["projector", "worker", "scheduler", "webhooks", "outbox"] as const;

/** How a log takes what is posted, and how long processes take to start on it. */
export type PostedToLog = {
  readonly apiUrl: string;
  readonly quiet: ColdAndWarm<HttpLoadResult>;
  /** While the other roles start one after the other, for the first time on this log, and make their consumers. */
  readonly whileStarting: { readonly perSecond: number; readonly longestMs: number };
  /** Seconds from the start of a process until it is ready: under that load, and without it. */
  readonly ready: ReadonlyMap<string, ColdAndWarm<number>>;
};

export async function postToLog({ sizes, rounds }: Bench, stage: Stage, on: Surroundings): Promise<PostedToLog> {
  const load = startLoad(stage.lifecycle);
  const firstStart = await secondsToReady(stage, on, "api");
  const api = await startTimed(stage, on, "api");
  const port = Number(new URL(api.url).port);
  const post = async (ms: number): Promise<HttpLoadResult> =>
    (await load.ask(toPosting(port, "/api/jobs", mailing(1), sizes.posts, connections, ms))).result;
  const quiet = await coldAndWarm(
    rounds,
    () => post(atMostMs),
    () => post(atMostMs),
  );

  const cold = new Map<string, number>();
  let areReady = false;
  const starting = (async () => {
    for (const role of otherRoles) cold.set(role, await secondsToReady(stage, on, role));
    areReady = true;
  })();
  const results: HttpLoadResult[] = [];
  // The failure reaches this function below.
  starting.catch(() => (areReady = true));
  while (!areReady) results.push(await post(untilReadyMs));
  await starting;

  const ready = new Map([["api", { cold: firstStart, warm: [api.seconds] }]]);
  for (const role of otherRoles) {
    ready.set(role, { cold: cold.get(role) ?? 0, warm: [await secondsToReady(stage, on, role)] });
  }
  return { apiUrl: api.url, quiet, whileStarting: toOne(results), ready };
}

function toOne(results: readonly HttpLoadResult[]): PostedToLog["whileStarting"] {
  const requests = results.reduce((sum, result) => sum + result.requests, 0);
  const seconds = results.reduce((sum, result) => sum + result.requests / result.perSecond, 0);
  return { perSecond: requests / seconds, longestMs: Math.max(...results.map(({ longestMs }) => longestMs)) };
}

/** The process ends at once: it must not work while something else is measured. */
async function secondsToReady(stage: Stage, on: Surroundings, role: string): Promise<number> {
  const { seconds, kill } = await startTimed(stage, on, role);
  await kill();
  return seconds;
}

async function startTimed({ lifecycle }: Stage, on: Surroundings, role: string) {
  const startedAt = performance.now();
  const started = await startProcess(lifecycle, on, role);
  return { ...started, seconds: (performance.now() - startedAt) / 1000 };
}
