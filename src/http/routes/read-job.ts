import type { JobRecord } from "../../domain/job/job-record.ts";
import { Unavailable } from "../../domain/unavailable.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { jobFromLog, type Moment } from "../../history/job-from-log.ts";
import { toLoggable } from "../../process/logger.ts";
import { job as jobSchema, toJobAnswer } from "../answers/job.ts";
import { jobNotFound, json } from "../server/answer.ts";
import { optionalMoment, type Parameters } from "../server/query.ts";
import { toJobRef } from "../server/request-context.ts";
import { route } from "../server/route.ts";
import { askReadModel, awaitMinSequence, readSequenceHeader } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type JobQuery = { readonly asOf: Moment | null };

const parameters: Parameters<JobQuery> = { asOf: optionalMoment };

/**
 * GET /jobs/:jobId: from the read model, or from the log itself where the log is ahead or the read model is away. As of an
 * earlier time or event, always from the log.
 */
export const readJobRoute = (dependencies: RouteDependencies) =>
  route<JobQuery>({
    method: "GET",
    path: "/jobs/:jobId",
    describes: {
      operation: "readJob",
      summary: "One job with its progress, now or as of an earlier event or time.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "The job.", json: jobSchema, headers: ["Read-Sequence"] } },
      needs: ["log", "read-model"],
      problems: ["job-not-found", "read-model-behind"],
    },
    query: parameters,
    handle: async ({ context, base, part, minSequence, inTime, query: { asOf } }) => {
      const ref = toJobRef(context, part("jobId"));
      if (ref === null) return jobNotFound();
      if (asOf !== null) {
        const { log, contentStore } = inTime(dependencies);
        const then = await jobFromLog(log, contentStore, ref, asOf);
        return then === null ? jobNotFound() : json(toJobAnswer(then.job, base), readSequenceHeader(then.sequence));
      }
      const behind = await awaitMinSequence(dependencies.readPosition, "jobs", minSequence);
      if (behind !== null) return behind;
      const found = await findJob(dependencies, () => inTime(dependencies), ref);
      return found === null ? jobNotFound() : json(toJobAnswer(found.job, base), readSequenceHeader(found.sequence));
    },
  });

/** `sequence` is the position in the log that the source of the answer had reached. */
type Found = { readonly job: JobRecord; readonly sequence: number };

/**
 * Never older than what this process has decided or shown before. Where the read model is behind that, the answer is the
 * job as of that sequence, and not as it is now: otherwise the next answer would have to come from the log again, and so
 * on until the job has ended.
 */
async function findJob(
  dependencies: ReadSide & Pick<RouteDependencies, "ownWrites">,
  inTime: () => Pick<RouteDependencies, "log" | "contentStore">,
  ref: JobRef,
): Promise<Found | null> {
  const { ownWrites } = dependencies;
  const projected = await findProjected(dependencies, ref);
  const known = ownWrites.ofJob(ref);
  // Most answers need nothing of NATS, and then no deadline for it either.
  if (projected !== null && projected.sequence >= known) return projected;
  const { log, contentStore } = inTime();
  try {
    const found = await jobFromLog(log, contentStore, ref, projected === null ? null : { sequence: known });
    if (found !== null) ownWrites.show(ref, found.sequence);
    return found;
  } catch (failure) {
    // Not the latest state, but a true one.
    if (failure instanceof Unavailable && projected !== null) return projected;
    throw failure;
  }
}

type ReadSide = Pick<RouteDependencies, "jobs" | "logger">;

async function findProjected({ jobs, logger }: ReadSide, ref: JobRef): Promise<Found | null> {
  try {
    const { job, readSequence } = await askReadModel(() => jobs.find(ref));
    return job === null ? null : { job, sequence: readSequence };
  } catch (failure) {
    logger.warn({ failure: toLoggable(failure) }, "read model unavailable; folding the job from the log");
    return null;
  }
}
