import type { Surroundings } from "../../support/waybill.ts";
import type { ColdAndWarm } from "../cold-and-warm.ts";
import { startProcess } from "../deployment.ts";
import type { HttpLoadResult } from "../load/http-load.ts";
import { type HttpLoad, toPosting } from "../load/start-load.ts";
import type { Stage } from "../row.ts";
import { mailing } from "../the-mail.ts";

const connections = 32;
const atMostMs = 5000;
const untilReadyMs = 1000;
const otherRoles = ["projector", "worker", "scheduler", "webhooks", "outbox"] as const;

/** Seconds from the start of a process until it is ready: the first time on this log, and again. */
export type Ready = ReadonlyMap<string, ColdAndWarm<number>>;
export type PostedMeanwhile = { readonly perSecond: number; readonly longestMs: number };

/** A log with a process that takes what is posted. */
export type OpenLog = {
  readonly apiUrl: string;
  post(requests: number): Promise<HttpLoadResult>;
  /** Posts while the other roles start one after the other, and make their consumers; then starts each again, alone. */
  postWhileStarting(requests: number): Promise<PostedMeanwhile & { readonly ready: Ready }>;
};

export async function openLog(stage: Stage, load: HttpLoad, on: Surroundings): Promise<OpenLog> {
  const firstStart = await secondsToReady(stage, on, "api");
  const api = await startTimed(stage, on, "api");
  const port = Number(new URL(api.url).port);
  const post = async (requests: number, ms = atMostMs): Promise<HttpLoadResult> =>
    (await load.ask(toPosting(port, "/api/jobs", mailing(1), requests, connections, ms))).result;
  return {
    apiUrl: api.url,
    post,
    postWhileStarting: async (requests) => {
      const [cold, posted] = await whileWorking(
        () => startEach(stage, on),
        () => post(requests, untilReadyMs),
      );
      const warm = await startEach(stage, on);
      const others = otherRoles.map(
        (role) => [role, { cold: cold.get(role) ?? 0, warm: [warm.get(role) ?? 0] }] as const,
      );
      return { ...toOne(posted), ready: new Map([["api", { cold: firstStart, warm: [api.seconds] }], ...others]) };
    },
  };
}

/** What the work answers, and what was answered meanwhile, again and again. */
async function whileWorking<Result, Answer>(
  work: () => Promise<Result>,
  ask: () => Promise<Answer>,
): Promise<readonly [Result, readonly Answer[]]> {
  const answers: Answer[] = [];
  let isOver = false;
  const asking = (async () => {
    do answers.push(await ask());
    while (!isOver);
  })();
  const result = await work().finally(() => {
    isOver = true;
  });
  await asking;
  return [result, answers];
}

async function startEach(stage: Stage, on: Surroundings): Promise<ReadonlyMap<string, number>> {
  const seconds = new Map<string, number>();
  for (const role of otherRoles) seconds.set(role, await secondsToReady(stage, on, role));
  return seconds;
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

function toOne(results: readonly HttpLoadResult[]): PostedMeanwhile {
  const requests = results.reduce((sum, result) => sum + result.requests, 0);
  const seconds = results.reduce((sum, result) => sum + result.requests / result.perSecond, 0);
  return { perSecond: requests / seconds, longestMs: Math.max(...results.map(({ longestMs }) => longestMs)) };
}
