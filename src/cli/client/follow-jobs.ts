import { setTimeout as pause } from "node:timers/promises";
import { isWorthWaiting, type Json, pauseMsAfter, type Service, ServiceAway, ServiceRefused } from "./service.ts";

const askEveryMs = 1000;

/**
 * Polls a mailing that was started until it has ended or was taken back, through outages of the service, and returns it.
 * `sequence` is where its start is in the log: an answer of before would show a draft.
 */
export async function untilMailingEnded(
  service: Service,
  path: string,
  sequence: string,
  interrupted: AbortSignal,
  onProgress: (mailing: Json) => void,
): Promise<Json> {
  for (;;) {
    const mailing = await askForMailing(service, path, sequence);
    if (mailing !== null) {
      onProgress(mailing);
      if (mailing.completedAt !== null || mailing.status === "draft") return mailing;
    }
    await pause(askEveryMs, undefined, { signal: interrupted });
  }
}

/** Null while the service is unavailable: the caller polls again anyway. */
async function askForMailing(service: Service, path: string, sequence: string): Promise<Json> {
  try {
    return (await service.ask(path, { method: "GET", headers: { "Min-Sequence": sequence } })).body;
  } catch (failure) {
    const isPassing = failure instanceof ServiceAway || (failure instanceof ServiceRefused && failure.status >= 429);
    if (isPassing) return null;
    throw failure;
  }
}

/**
 * Calls `onChange` with the job or mailing whenever it changes, and returns the ended one. Once the service has sent it, an
 * outage of the service, or an instance that refuses for now, does not end the watch. `path` is its path.
 */
export async function watchJob(
  service: Service,
  path: string,
  onChange: (job: Json) => void,
  onWaiting: (reason: string) => void,
  interrupted: AbortSignal,
): Promise<Json> {
  let last: Json = null;
  const onJob = (job: Json): void => {
    last = job;
    onChange(job);
  };
  for (;;) {
    let pauseMs = pauseMsAfter(null);
    await followStream(service, path, onJob).catch((failure: unknown) => {
      if (last === null || !isWorthWaiting(failure)) throw failure;
      pauseMs = pauseMsAfter(failure);
    });
    // The job ended before the watch began, or the service closed the stream.
    if (last === null || last.completedAt === null) {
      onJob((await service.askPatiently(path, { method: "GET" }, onWaiting)).body);
    }
    if (last.completedAt !== null) return last;
    await pause(pauseMs, undefined, { signal: interrupted });
  }
}

async function followStream(service: Service, path: string, onJob: (job: Json) => void): Promise<void> {
  for await (const line of service.lines(`${path}/stream`, "text/event-stream")) {
    if (line.startsWith("data: ")) onJob(JSON.parse(line.slice("data: ".length)));
  }
}
