import type { JobRef } from "../../event-log/event-log.ts";
import { traceIdOf } from "../../event-log/traceparent.ts";
import type { JobMoment } from "../../history/live/job-fold.ts";
import type { Live } from "../../history/live/live.ts";
import { toLoggable } from "../../process/logger.ts";
import { toJobAnswer } from "../answers/job.ts";
import type { RouteDependencies } from "../routes/route-dependencies.ts";
import { type Answer, json } from "../server/answer.ts";
import type { ApiRequest } from "../server/route.ts";
import { openStream } from "./event-stream.ts";

type Held = Pick<RouteDependencies, "live" | "ownWrites" | "logger">;
/** Leaves the request body behind: it may be large, and the wait long. */
type Waiting = Pick<ApiRequest, "context" | "base" | "gone" | "isStillAdmitted">;

/**
 * The answer to an accepted job, where `Prefer: wait=N` asks for it not before the job has ended or N seconds are over,
 * and with the job as it then stands. The job is accepted: whatever is in the way of waiting, the answer stays a 201.
 */
export function holdAnswer(held: Held, asked: ApiRequest, job: JobRef, created: Answer): Answer {
  const seconds = readPreferWait(asked.header("Prefer"));
  if (seconds === null) return created;
  const { context, base, gone, isStillAdmitted } = asked;
  return {
    ...created,
    later: () => answerLater(held, { context, base, gone, isStillAdmitted }, seconds, job, created),
  };
}

async function answerLater(
  { live, ownWrites, logger }: Held,
  request: Waiting,
  seconds: number,
  job: JobRef,
  created: Answer,
): Promise<Answer> {
  const stream = openStream(live, request);
  if (!stream.opened) return created;
  try {
    const found = await awaitEnd(live, job, seconds, stream.signal);
    if (found === null) return created;
    // What comes next is to show no less than this answer, here and, by its Event-Sequence, elsewhere.
    ownWrites.remember(job, found.sequence);
    const headers = {
      ...created.headers,
      "Event-Sequence": String(found.sequence),
      "Preference-Applied": `wait=${seconds}`,
    };
    const body = { ...(created.body as object), ...toJobAnswer(found.job, request.base) };
    return json(body, headers, created.status);
  } catch (failure) {
    const { requestId, traceparent } = request.context;
    const line = { requestId, traceId: traceIdOf(traceparent), jobId: job.jobId, failure: toLoggable(failure) };
    logger.warn(line, "an answer is not held until the job has ended");
    return created;
  }
}

/** The job once it has ended, or as it stands when the time is up or the client has gone. */
async function awaitEnd(live: Live, job: JobRef, seconds: number, signal: AbortSignal): Promise<JobMoment | null> {
  const deadline = performance.now() + seconds * 1000;
  const watch = await live.watch(job, null, signal);
  if (watch === null) return null;
  try {
    for (;;) {
      const found = watch.now();
      const leftMs = deadline - performance.now();
      const hasEnded = found !== null && found.job.completedAt !== null;
      if (hasEnded || leftMs <= 0 || signal.aborted) return found;
      await watch.sleep(leftMs);
    }
  } finally {
    watch.leave();
  }
}

const maxSeconds = 60;

/** One preference of RFC 7240, its parameters left aside: a name, and a value that may stand in quotes. */
const preference = /^\s*([^\s=;]+)\s*(?:=\s*(?:"([^"]*)"|([^\s;]*)))?/;

/**
 * The seconds of `Prefer: wait=N`; null where the header is absent or cannot be followed: a preference is never refused,
 * but ignored. Of several preferences of one name the first counts.
 */
export function readPreferWait(header: string | null): number | null {
  for (const one of (header ?? "").split(",")) {
    const [, name, quoted, plain] = preference.exec(one) ?? [];
    if (name?.toLowerCase() !== "wait") continue;
    const value = quoted ?? plain ?? "";
    return /^\d{1,3}$/.test(value) && Number(value) <= maxSeconds ? Number(value) : null;
  }
  return null;
}
