import { everyJob } from "../../../projections/jobs/list-options.ts";
import type { LedgerCursor } from "../../../projections/jobs/recipients/queries.ts";
import { eraseJob } from "../../erasure/erase-job.ts";
import { erasePerson, type PersonQueries } from "../../erasure/erase-person.ts";
import { jobFromLog } from "../../history/job-from-log.ts";
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
      summary:
        "Erase one address from every job that has ended, from the templates of schedules, from files of reports and from the outbox.",
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

async function eraseRecipient(dependencies: RouteDependencies, { context, body }: ApiRequest): Promise<Answer> {
  const asked = readEraseRequest(body ?? {});
  if (!asked.valid) return refuseFaults(asked.faults);
  const { email: address, reason } = asked.value;
  const { tenant } = context;
  const request = { address, reason, cause: toCause(context), at: dependencies.now() };
  const queries = queriesOf(dependencies, tenant);
  const { remember } = dependencies.ownWrites;
  const erasure = await orUnavailable(() => erasePerson(dependencies, queries, tenant, request, remember));
  if (erasure.outcome === "read-model-behind") return refuseBehind(erasure.upTo);
  const { erased, jobsNotEnded, mailingsNotEnded, sequence } = erasure;
  if (jobsNotEnded.length > 0) {
    const detail = `${jobsNotEnded.length} jobs that may hold this address have not ended. Cancel them or wait, then ask again.`;
    const parts = " The parts of a mailing that are no jobs yet are cancelled with it.";
    const ofMailings = mailingsNotEnded.length > 0;
    const members = { ...erased, jobsNotEnded, ...(ofMailings && { mailingsNotEnded }) };
    return refuse("jobs-not-ended", ofMailings ? detail + parts : detail, { members });
  }
  return json(erased, sequence === 0 ? {} : { "Event-Sequence": String(sequence) });
}

function queriesOf(
  {
    recipients,
    jobs,
    mailings,
    schedules,
    readPosition,
  }: Pick<RouteDependencies, "recipients" | "jobs" | "mailings" | "schedules" | "readPosition">,
  tenant: string,
): PersonQueries<LedgerCursor> {
  return {
    jobsOf: async (address, cursor, upTo) => {
      const ask = () => recipients.ofAddress(tenant, address, { cursor, limit: pageSize });
      const first = () => askIncluding(readPosition, "jobs", upTo, ask);
      const { entries, readSequence, next } = await (cursor === null ? first() : askReadModel(ask));
      return { jobIds: entries.map(({ jobId }) => jobId), readSequence, next };
    },
    withUnmade: (upTo) => askIncluding(readPosition, "jobs", upTo, () => mailings.withUnmade(tenant)),
    schedules: (upTo) => askIncluding(readPosition, "schedules", upTo, () => schedules.all(tenant)),
    running: async (type, upTo) => {
      const list = (cursor: string | null) =>
        jobs.list(tenant, { ...everyJob, statuses: ["processing"], pageSize, type, cursor });
      const { readSequence, ...first } = await askIncluding(readPosition, "jobs", upTo, () => list(null));
      const running = [...first.jobs];
      for (let next = first.nextCursor; next !== null; ) {
        const page = await askReadModel(() => list(next));
        running.push(...page.jobs);
        next = page.nextCursor;
      }
      return { jobIds: running.map(({ id }) => id), readSequence };
    },
    untilErased: async (sequence) => {
      await untilErased(readPosition, sequence);
    },
  };
}

/** For work that may take longer than a query of a read model. */
async function orUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (failure) {
    throw explainDatabase(failure);
  }
}
