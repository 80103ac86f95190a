import type { LogListOptions } from "../../../projections/logs/queries.ts";
import { type JobRef, LogUnavailable } from "../../event-log/event-log.ts";
import { json } from "../answer.ts";
import { askReadModel, awaitMinSequence, caughtUp, readMinSequence, readSequenceHeader } from "../ask-read-model.ts";
import { jobPath } from "../job-answer.ts";
import { toJobRef } from "../job-ref.ts";
import { jobNotFound, refuseFaults } from "../problem.ts";
import { oneOf, optionalText, type Parameters, whole } from "../query.ts";
import { route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

/** As many as a job of 1000 recipients has after a few attempts: hardly anybody ever needs a second page. */
const maxEntries = 5000;

const statuses: readonly NonNullable<LogListOptions["status"]>[] = ["success", "failed", "deferred", "unknown"];

const parameters: Parameters<LogListOptions> = {
  status: oneOf(statuses, null),
  email: optionalText(254),
  after: whole(null, 0, Number.MAX_SAFE_INTEGER),
  limit: whole(maxEntries, 1, maxEntries),
};

/** GET /jobs/:jobId/logs: what happened to each recipient, attempt by attempt, oldest first. */
export const jobLogsRoute = ({ log, jobs, logs, readPosition }: RouteDependencies) =>
  route<LogListOptions>({
    method: "GET",
    path: "/jobs/:jobId/logs",
    query: parameters,
    handle: async ({ context, base, part, query, header }) => {
      const minSequence = readMinSequence(header("Min-Sequence"));
      if (!minSequence.valid) return refuseFaults(minSequence.faults);
      const job = toJobRef(context, part("jobId"));
      if (job === null) return jobNotFound();
      const behind = await awaitMinSequence(readPosition, "logs", minSequence.value);
      if (behind !== null) return behind;

      const known = await readLastDecision(log, jobs, job);
      if (known === null) return jobNotFound();
      // Who has seen the job end reads its whole log: the end stands behind every outcome.
      await caughtUp(readPosition, "logs", known.lastDecision);
      const page = await askReadModel(() => logs.list(job, query));
      const next = page.next === null ? {} : { Link: `<${nextPage(base, job.jobId, query, page.next)}>; rel="next"` };
      return json(page.entries, { ...readSequenceHeader(page.readSequence), ...next });
    },
  });

/** Null where there is no such job. With the log away what was projected is answered, of jobs that were projected. */
async function readLastDecision(
  log: RouteDependencies["log"],
  jobs: RouteDependencies["jobs"],
  job: JobRef,
): Promise<{ readonly lastDecision: number } | null> {
  try {
    const lastDecision = await log.lastDecision(job);
    return lastDecision === 0 ? null : { lastDecision };
  } catch (failure) {
    const isProjected = failure instanceof LogUnavailable && (await askReadModel(() => jobs.find(job))).job !== null;
    if (isProjected) return { lastDecision: 0 };
    throw failure;
  }
}

function nextPage(base: string, jobId: string, { status, email, limit }: LogListOptions, after: number): string {
  const query = new URLSearchParams({ after: String(after), limit: String(limit) });
  if (status !== null) query.set("status", status);
  if (email !== null) query.set("email", email);
  return `${jobPath(base, jobId)}/logs?${query}`;
}
