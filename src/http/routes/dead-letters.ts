import type { DeadLetterListOptions } from "../../../projections/dead-letters/queries.ts";
import { handleCommand } from "../../commands/handle-command.ts";
import { deadLetterStatuses } from "../../domain/job/dead-letter.ts";
import type { JobRejection } from "../../domain/job/state.ts";
import { deadLetterFromLog } from "../../history/dead-letter-from-log.ts";
import { findAccepted } from "../../intake/accept-job.ts";
import { jobIdOfRequeue } from "../../intake/derived-job-id.ts";
import { requeueJob } from "../../intake/requeue-job.ts";
import {
  changeRequest,
  ignoreRequest,
  readChangeRequest,
  readIgnoreRequest,
} from "../../schemas/job-action-request.ts";
import { deadLetter, deadLetterCauses, deadLetterPage, toDeadLetterAnswer } from "../answers/dead-letter.ts";
import { createdJob } from "../answers/job.ts";
import {
  type Answer,
  deadLetterNotFound,
  json,
  refuse,
  refuseFaults,
  refuseForNoRoom,
  refuseRejection,
} from "../server/answer.ts";
import { oneOf, optionalText, type Parameters, whole } from "../server/query.ts";
import { toCause, toRunRef } from "../server/request-context.ts";
import { type ApiRequest, needed, optional, type Route, route } from "../server/route.ts";
import { askReadModel, awaitMinSequence, caughtUp, readSequenceHeader } from "./ask-read-model.ts";
import { toCreatedAnswer } from "./create-job.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type ListQuery = Omit<DeadLetterListOptions, "failedBefore">;

const parameters: Parameters<ListQuery> = {
  status: oneOf(deadLetterStatuses, null),
  code: optionalText(64),
  cause: optionalText(200),
  cursor: whole(null, 1, Number.MAX_SAFE_INTEGER),
  limit: whole(20, 1, 100),
};

/** Runs that failed, and the decisions that people make about them. */
export const deadLetterRoutes = (dependencies: RouteDependencies): readonly Route[] => [
  listRoute(dependencies),
  causesRoute(dependencies),
  route({
    method: "POST",
    path: "/dead-letters/:id/requeue",
    describes: {
      operation: "requeueDeadLetter",
      summary: "Run a failed job again as a new job with the recipients that were not sent.",
      body: optional(changeRequest),
      answers: {
        201: { is: "The new job.", json: createdJob, headers: ["Location", "Event-Sequence", "Idempotency-Replayed"] },
      },
      needs: ["log-writes"],
      problems: ["dead-letter-not-found", "dead-letter-closed", "nobody-left", "content-erased"],
    },
    takesBody: true,
    handle: (request) => requeue(dependencies, request),
  }),
  route({
    method: "POST",
    path: "/dead-letters/:id/ignore",
    describes: {
      operation: "ignoreDeadLetter",
      summary: "Set a dead letter aside, with a reason.",
      body: needed(ignoreRequest),
      answers: { 200: { is: "The dead letter as it is now.", json: deadLetter, headers: ["Event-Sequence"] } },
      needs: ["log-writes"],
      problems: ["dead-letter-not-found", "dead-letter-closed"],
    },
    takesBody: true,
    handle: (request) => ignore(dependencies, request),
  }),
];

/** The failed runs, newest first, including what this process decided a moment ago. */
const listRoute = ({ deadLetters, readPosition, ownWrites }: RouteDependencies) =>
  route<ListQuery>({
    method: "GET",
    path: "/dead-letters",
    describes: {
      operation: "listDeadLetters",
      summary: "Jobs that failed for good, newest first.",
      headers: ["Min-Sequence"],
      answers: {
        200: {
          is: "A page of them. With `code` or `cause`, a `nextCursor` goes on from a page that is short, or empty.",
          json: deadLetterPage,
          headers: ["Read-Sequence"],
        },
      },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    query: parameters,
    handle: async ({ context, query, minSequence }) => {
      const behind = await awaitMinSequence(readPosition, "dead-letters", minSequence);
      if (behind !== null) return behind;
      await caughtUp(readPosition, "dead-letters", ownWrites.ofTenant(context.tenant));
      const { letters, nextCursor, readSequence } = await askReadModel(() =>
        deadLetters.list(context.tenant, { ...query, failedBefore: null }),
      );
      return json({ data: letters.map(toDeadLetterAnswer), nextCursor }, readSequenceHeader(readSequence));
    },
  });

const mostCauses = 100;

const causesRoute = ({ deadLetters, readPosition, ownWrites }: RouteDependencies) =>
  route<Pick<ListQuery, "status">>({
    method: "GET",
    path: "/dead-letters/causes",
    describes: {
      operation: "listDeadLetterCauses",
      summary: "Why jobs failed for good, in the words of the mail servers, and how many failed for each reason.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "Up to 100 causes.", json: deadLetterCauses, headers: ["Read-Sequence"] } },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    query: { status: parameters.status },
    handle: async ({ context, query, minSequence }) => {
      const behind = await awaitMinSequence(readPosition, "dead-letters", minSequence);
      if (behind !== null) return behind;
      await caughtUp(readPosition, "dead-letters", ownWrites.ofTenant(context.tenant));
      const found = await askReadModel(() => deadLetters.causes(context.tenant, query.status, mostCauses));
      return json({ data: found.causes }, readSequenceHeader(found.readSequence));
    },
  });

/** 201, as for the creation of the new job; a repeated request gets the same answer. */
async function requeue(
  dependencies: RouteDependencies,
  { context, base, part, body, inTime }: ApiRequest,
): Promise<Answer> {
  const { log, room, contentStore, ownWrites, now } = inTime(dependencies);
  const asked = readChangeRequest(body ?? {});
  if (!asked.valid) return refuseFaults(asked.faults);
  const letter = toRunRef(context, part("id"));
  if (letter === null) return deadLetterNotFound();
  const asJob = { tenant: letter.job.tenant, jobId: jobIdOfRequeue(letter.job, letter.run) };
  if (!(await room.isLeftForJobs()) && (await findAccepted(log, asJob)) === null) return refuseForNoRoom();
  const reason = asked.value.reason ?? null;
  const requeued = await requeueJob(log, contentStore, { ...letter, reason, cause: toCause(context), at: now() });
  switch (requeued.outcome) {
    case "rejected":
      return refuseLetter(requeued.rejection);
    case "impossible":
      return requeued.why === "nobody-left"
        ? refuse(
            "nobody-left",
            "No recipient is left: each was sent, or may have been sent and must not be mailed twice.",
          )
        : refuse("content-erased", "The content of this job has been erased.");
    case "accepted":
      ownWrites.remember(requeued.job, requeued.sequence);
      ownWrites.remember(letter.job, await log.lastDecision(letter.job));
      return toCreatedAnswer(base, requeued);
  }
}

/** Answers with the dead letter from the log, with or without a read model. */
async function ignore(dependencies: RouteDependencies, { context, part, body, inTime }: ApiRequest): Promise<Answer> {
  const { log, contentStore, ownWrites, now } = inTime(dependencies);
  const asked = readIgnoreRequest(body ?? {});
  if (!asked.valid) return refuseFaults(asked.faults);
  const ref = toRunRef(context, part("id"));
  if (ref === null) return deadLetterNotFound();
  const { job, run } = ref;
  const command = { type: "IgnoreDeadLetter", at: now(), run, reason: asked.value.reason } as const;
  const outcome = await handleCommand(log, job, command, toCause(context));
  if (outcome.outcome === "rejected") return refuseLetter(outcome.rejection);
  ownWrites.remember(job, outcome.sequence);
  const found = await deadLetterFromLog(log, contentStore, job, run);
  if (found === null) return deadLetterNotFound();
  const sequence = Math.max(outcome.sequence, found.sequence);
  ownWrites.remember(job, sequence);
  return json(toDeadLetterAnswer(found.letter), { "Event-Sequence": String(sequence) });
}

/** Where the job does not exist, its dead letter does not exist either. */
const refuseLetter = (rejection: JobRejection): Answer =>
  rejection.code === "job-not-found" ? deadLetterNotFound() : refuseRejection(rejection);
