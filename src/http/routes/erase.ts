import type { LedgerCursor } from "../../../projections/recipients/queries.ts";
import { eraseAddress } from "../../erasure/erase-address.ts";
import { eraseJob } from "../../erasure/erase-job.ts";
import { jobFromLog } from "../../history/job-from-log.ts";
import { eraseRequest, readEraseContentRequest, readEraseRequest } from "../../schemas/erase-request.ts";
import { changeRequest } from "../../schemas/job-action-request.ts";
import { type Answer, json } from "../answer.ts";
import { job as jobSchema } from "../answers/job.ts";
import { erasure as erasureSchema } from "../answers/recipients.ts";
import { askIncluding, askReadModel, refuseBehind } from "../ask-read-model.ts";
import { needed, optional } from "../describes.ts";
import { toJobAnswer } from "../job-answer.ts";
import { toJobRef } from "../job-ref.ts";
import { jobNotFound, refuse, refuseFaults } from "../problem.ts";
import { refuseRejection } from "../rejection.ts";
import { toCause } from "../request-context.ts";
import { type ApiRequest, type Route, route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";
import { untilForgotten } from "../until-forgotten.ts";

const pageSize = 100;

/** What cannot be taken back: what was sent, or one person everywhere. The history stays. */
export const eraseRoutes = (dependencies: RouteDependencies): readonly Route[] => [
  route({
    method: "DELETE",
    path: "/jobs/:jobId/content",
    describes: {
      operation: "eraseJobContent",
      summary: "Erase what was sent and to whom, for good; the history stays.",
      body: optional(changeRequest),
      answers: { 200: { is: "The job as it is now.", json: jobSchema, headers: ["Event-Sequence"] } },
      needs: ["log-writes"],
      problems: ["job-not-found", "job-has-not-ended"],
    },
    takesBody: true,
    handle: (request) => eraseContent(dependencies, request),
  }),
  route({
    method: "POST",
    path: "/recipients/erase",
    describes: {
      operation: "eraseRecipient",
      summary: "Erase one address from every job that has ended.",
      body: needed(eraseRequest),
      answers: { 200: { is: "What was erased.", json: erasureSchema, headers: ["Event-Sequence"] } },
      needs: ["log-writes", "read-model"],
      problems: ["jobs-not-ended", "read-model-behind"],
    },
    takesBody: true,
    // It is about every job of the tenant, whoever made it.
    scope: "admin",
    handle: (request) => eraseRecipient(dependencies, request),
  }),
];

/** Answers with the job as the log has it; said again, the same. */
async function eraseContent(
  dependencies: RouteDependencies,
  { context, base, part, body }: ApiRequest,
): Promise<Answer> {
  const { log, contentStore, ownWrites, now } = dependencies;
  const wish = readEraseContentRequest(body ?? {});
  if (!wish.valid) return refuseFaults(wish.faults);
  const job = toJobRef(context, part("jobId"));
  if (job === null) return jobNotFound();
  const { reason } = wish.value;
  const outcome = await eraseJob(dependencies, job, { isRetired: false, reason, cause: toCause(context), at: now() });
  if (outcome.outcome === "rejected") return refuseRejection(outcome.rejection);
  ownWrites.remember(job, outcome.sequence);
  await untilForgotten(dependencies.readPosition, outcome.sequence);
  const erased = await jobFromLog(log, contentStore, job);
  if (erased === null) return jobNotFound();
  return json(toJobAnswer(erased.job, base), { "Event-Sequence": String(outcome.sequence) });
}

/**
 * Erases an address from each job that has ended, and says which have not: what is erased is erased, and to ask again
 * goes on where it was left. That it is never mailed, if so, is still known, by a digest.
 */
async function eraseRecipient(dependencies: RouteDependencies, { context, body }: ApiRequest): Promise<Answer> {
  const { log, recipients, readPosition, suppressions, ownWrites, now } = dependencies;
  const wish = readEraseRequest(body ?? {});
  if (!wish.valid) return refuseFaults(wish.faults);
  const { email, reason } = wish.value;
  const { tenant } = context;
  const page = (cursor: LedgerCursor | null) => recipients.ofAddress(tenant, email, { cursor, limit: pageSize });
  const { lastSequence } = await log.state();
  let found = await askIncluding(readPosition, "recipients", lastSequence, () => page(null));
  if (found.readSequence < lastSequence) return refuseBehind(lastSequence);
  const isSuppressed = await suppressions.forgetAddress(tenant, email);
  const jobsNotEnded: string[] = [];
  let jobsErased = 0;
  let sequence = 0;
  while (true) {
    for (const { jobId } of found.entries) {
      const job = { tenant, jobId };
      const erasure = await eraseAddress(dependencies, job, {
        address: email,
        reason,
        cause: toCause(context),
        at: now(),
      });
      if (erasure.outcome === "not-ended") {
        jobsNotEnded.push(jobId);
        continue;
      }
      if (erasure.outcome === "erased") jobsErased += 1;
      sequence = Math.max(sequence, erasure.sequence);
      if (erasure.sequence > 0) ownWrites.remember(job, erasure.sequence);
    }
    const { next } = found;
    if (next === null) break;
    found = await askReadModel(() => page(next));
  }
  await untilForgotten(readPosition, sequence);
  if (jobsNotEnded.length > 0) {
    const detail = `${jobsNotEnded.length} jobs with this address have not ended. Cancel them or wait, then ask again.`;
    return refuse("jobs-not-ended", detail, { members: { jobsErased, jobsNotEnded, isSuppressed } });
  }
  return json({ jobsErased, isSuppressed }, sequence === 0 ? {} : { "Event-Sequence": String(sequence) });
}
