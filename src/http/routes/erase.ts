import type { JobListOptions } from "../../../projections/jobs/list-options.ts";
import type { LedgerPage } from "../../../projections/recipients/queries.ts";
import { type AddressErasureRequest, eraseAddress } from "../../erasure/erase-address.ts";
import { eraseJob } from "../../erasure/erase-job.ts";
import { eraseLeftovers } from "../../erasure/erase-leftovers.ts";
import { eraseReports } from "../../erasure/erase-reports.ts";
import { jobFromLog } from "../../history/job-from-log.ts";
import { jobIdOfOutboxRow } from "../../intake/derived-job-id.ts";
import { typesWithFile } from "../../job-kinds/all-job-kinds.ts";
import { eraseRequest, readEraseContentRequest, readEraseRequest } from "../../schemas/erase-request.ts";
import { changeRequest } from "../../schemas/job-action-request.ts";
import { job as jobSchema, toJobAnswer } from "../answers/job.ts";
import { erasure as erasureSchema } from "../answers/recipients.ts";
import { type Answer, jobNotFound, json, refuse, refuseFaults, refuseRejection } from "../server/answer.ts";
import { toCause, toJobRef } from "../server/request-context.ts";
import { type ApiRequest, needed, optional, type Route, route } from "../server/route.ts";
import { askIncluding, askReadModel, explainDatabase, refuseBehind, untilErased } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

const pageSize = 100;

/** Erasures are final: of one job's content, or of one person everywhere. The history stays. */
export const eraseRoutes = (dependencies: RouteDependencies): readonly Route[] => [
  route({
    method: "DELETE",
    path: "/jobs/:jobId/content",
    describes: {
      operation: "eraseJobContent",
      summary: "Erase a job's content and recipients for good; the history stays.",
      body: optional(changeRequest),
      answers: { 200: { is: "The job as it is now.", json: jobSchema, headers: ["Event-Sequence"] } },
      needs: ["log-writes", "read-model"],
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
      summary: "Erase one address from every job that has ended, from files of reports and from the outbox.",
      body: needed(eraseRequest),
      answers: { 200: { is: "What was erased.", json: erasureSchema, headers: ["Event-Sequence"] } },
      needs: ["log-writes", "read-model"],
      problems: ["jobs-not-ended", "read-model-behind"],
    },
    takesBody: true,
    // It covers every job of the tenant, whichever key created the job.
    scope: "admin",
    handle: (request) => eraseRecipient(dependencies, request),
  }),
];

/** Answers with the job from the log; a repeated request gets the same answer. */
async function eraseContent(
  dependencies: RouteDependencies,
  { context, base, part, body, inTime }: ApiRequest,
): Promise<Answer> {
  const inRequest = inTime(dependencies);
  const { log, contentStore, ownWrites, now } = inRequest;
  const asked = readEraseContentRequest(body ?? {});
  if (!asked.valid) return refuseFaults(asked.faults);
  const job = toJobRef(context, part("jobId"));
  if (job === null) return jobNotFound();
  const { reason } = asked.value;
  const erasureOfJob = { isRetired: false, reason, cause: toCause(context), at: now() };
  // A job that came through the outbox has a copy in the database as well.
  const outcome = await orUnavailable(() => eraseJob(inRequest, job, erasureOfJob));
  if (outcome.outcome === "rejected") return refuseRejection(outcome.rejection);
  ownWrites.remember(job, outcome.sequence);
  await untilErased(dependencies.readPosition, outcome.sequence);
  const erased = await jobFromLog(log, contentStore, job);
  if (erased === null) return jobNotFound();
  const sequence = Math.max(outcome.sequence, erased.sequence);
  ownWrites.remember(job, sequence);
  return json(toJobAnswer(erased.job, base), { "Event-Sequence": String(sequence) });
}

type Erased = { readonly jobsErased: number; readonly jobsNotEnded: readonly string[]; readonly sequence: number };

/**
 * Erases an address from each job that has ended, from the files of reports and from the outbox, and lists the jobs that
 * have not ended: what is erased stays erased, and a repeated request continues where this one stopped. If the address is
 * suppressed, the list still knows it, by a digest.
 */
async function eraseRecipient(dependencies: RouteDependencies, { context, body }: ApiRequest): Promise<Answer> {
  const { log, recipients, jobs, readPosition, suppressions, outbox, now } = dependencies;
  const asked = readEraseRequest(body ?? {});
  if (!asked.valid) return refuseFaults(asked.faults);
  const { email: address, reason } = asked.value;
  const { tenant } = context;
  const first = () => recipients.ofAddress(tenant, address, { cursor: null, limit: pageSize });
  const { lastSequence } = await log.state();
  const found = await askIncluding(readPosition, "recipients", lastSequence, first);
  if (found.readSequence < lastSequence) return refuseBehind(lastSequence);
  const isSuppressed = await suppressions.forgetAddress(tenant, address);
  const erasureOfAddress = { address, reason, cause: toCause(context), at: now() };
  const inJobs = await orUnavailable(() => eraseInJobs(dependencies, tenant, found, erasureOfAddress));
  await untilErased(readPosition, inJobs.sequence);
  const inOutbox = await orUnavailable(() => outbox.eraseAddress(tenant, address));
  // A report that is reading now may have read a row while it still held the address.
  const { lastSequence: forgottenAt } = await log.state();
  const running: string[] = [];
  for (const type of typesWithFile) {
    const list = () => jobs.list(tenant, { ...runningJobs, type });
    const writing = await askIncluding(readPosition, "jobs", forgottenAt, list);
    if (writing.readSequence < forgottenAt) return refuseBehind(forgottenAt);
    running.push(...writing.jobs.map(({ id }) => id));
  }
  const inReports = await orUnavailable(() => eraseReports(dependencies, tenant, erasureOfAddress));
  const leftOver = await orUnavailable(() => eraseLeftovers(dependencies, tenant, erasureOfAddress));
  const erased = {
    jobsErased: inJobs.jobsErased,
    reportsErased: inReports.erased,
    outboxRowsErased: inOutbox.erased,
    leftoversErased: leftOver.erased,
    isSuppressed,
  };
  const jobsNotEnded = [
    ...new Set([
      ...inJobs.jobsNotEnded,
      ...inOutbox.waiting.map((rowId) => jobIdOfOutboxRow(tenant, rowId)),
      ...running,
      ...inReports.notEnded,
      ...leftOver.notEnded,
    ]),
  ];
  if (jobsNotEnded.length > 0) {
    const detail = `${jobsNotEnded.length} jobs that may hold this address have not ended. Cancel them or wait, then ask again.`;
    return refuse("jobs-not-ended", detail, { members: { ...erased, jobsNotEnded } });
  }
  const sequence = Math.max(inJobs.sequence, inReports.sequence);
  return json(erased, sequence === 0 ? {} : { "Event-Sequence": String(sequence) });
}

const runningJobs: Omit<JobListOptions, "type"> = {
  statuses: ["processing"],
  createdAfter: null,
  createdBefore: null,
  q: null,
  page: 1,
  pageSize,
  cursor: null,
  sortBy: "createdAt",
  order: "desc",
};

/** Erases the address in each job that the ledger names, a page at a time. */
async function eraseInJobs(
  dependencies: RouteDependencies,
  tenant: string,
  first: LedgerPage,
  asked: AddressErasureRequest,
): Promise<Erased> {
  const { recipients, ownWrites } = dependencies;
  const jobsNotEnded: string[] = [];
  let [jobsErased, sequence] = [0, 0];
  for (let page = first; ; ) {
    for (const { jobId } of page.entries) {
      const erasure = await eraseAddress(dependencies, { tenant, jobId }, asked);
      if (erasure.outcome === "not-ended") {
        jobsNotEnded.push(jobId);
        continue;
      }
      if (erasure.outcome === "erased") jobsErased += 1;
      sequence = Math.max(sequence, erasure.sequence);
      if (erasure.sequence > 0) ownWrites.remember({ tenant, jobId }, erasure.sequence);
    }
    const { next } = page;
    if (next === null) return { jobsErased, jobsNotEnded, sequence };
    page = await askReadModel(() => recipients.ofAddress(tenant, asked.address, { cursor: next, limit: pageSize }));
  }
}

/** For work that may take longer than a query of a read model. */
async function orUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (failure) {
    throw explainDatabase(failure);
  }
}
