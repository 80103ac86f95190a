import { handleCommand } from "../../commands/handle-command.ts";
import { foldDecisions, type JobVersion } from "../../commands/read-version.ts";
import type { Instant } from "../../domain/message.ts";
import type { RunRef } from "../../event-log/event-log.ts";
import { Archived } from "../../event-log/log-failures.ts";
import { type Acted, actOnMany, type PageOfMany, pagesOfList } from "../../intake/act-on-many.ts";
import { requeueJob } from "../../intake/requeue-job.ts";
import { createStatusOfMailing } from "../../mailings/status-of-mailing.ts";
import {
  type BulkLettersRequest,
  bulkLettersRequest,
  cursorSince,
  instantOf,
  readBulkLetters,
} from "../../schemas/bulk-request.ts";
import { faultAt } from "../../schemas/fault.ts";
import { bulkResult, toBulkAnswer } from "../answers/bulk.ts";
import { runId } from "../answers/parts.ts";
import { type Answer, json, refuseFaults, refuseForNoRoom } from "../server/answer.ts";
import { toCause, toRunRef } from "../server/request-context.ts";
import { type ApiRequest, needed, route } from "../server/route.ts";
import { askReadModel, caughtUp } from "./ask-read-model.ts";
import { isDecided, refuseMore } from "./bulk-jobs.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** POST /dead-letters/bulk: one decision about every dead letter of a list or of a cause. */
export const bulkLettersRoute = (dependencies: RouteDependencies) =>
  route({
    method: "POST",
    path: "/dead-letters/bulk",
    describes: {
      operation: "decideDeadLetters",
      summary: "Requeue or ignore many dead letters: those of a list, or the open ones that a dry run has counted.",
      body: needed(bulkLettersRequest),
      answers: { 200: { is: "What was done; with a `nextCursor`, the same call with it goes on.", json: bulkResult } },
      needs: ["read-model", "log-writes"],
      problems: ["more-than-expected"],
    },
    takesBody: true,
    handle: (request) => decideMany(dependencies, request),
  });

const decidedBy = { requeue: "JobRequeued", ignore: "DeadLetterIgnored" } as const;

/** A requeued job has its content stored anew, which takes longer than a decision. */
const pageSize = 20;
const bounds = { atOnce: 4, most: 180, forMs: 1000 };

async function decideMany(dependencies: RouteDependencies, request: ApiRequest): Promise<Answer> {
  const asked = readBulkLetters(request.body);
  if (!asked.valid) return refuseFaults(asked.faults);
  const { action, letters, dryRun, expected, cursor = null } = asked.value;
  const asOf = instantOf(asked.value.asOf) ?? dependencies.now();
  const work = workOf(dependencies, request, asked.value, asOf);
  const matched = cursor !== null ? null : letters === undefined ? await work.count() : letters.length;
  if (matched === null && cursor === null) return refuseUncounted();
  if (dryRun === true) return json(toBulkAnswer(asOf, matched, { acted: [], nextCursor: null }));
  if (matched !== null && expected !== undefined && matched > expected) return refuseMore(matched, expected);
  if (action === "requeue" && !(await request.inTime(dependencies).room.isLeftForJobs())) return refuseForNoRoom();
  const page = letters === undefined ? work.page : pagesOfList(letters, pageSize);
  const done = await actOnMany(cursor, { page, act: work.act, ...bounds });
  const nextCursor = letters === undefined ? done.nextCursor : cursorSince(asOf, done.nextCursor);
  return json(toBulkAnswer(asOf, matched, { ...done, nextCursor }));
}

const refuseUncounted = (): Answer =>
  refuseFaults([faultAt("/asOf", "is before too many later failures to count; expected that of a new dry run")]);

function workOf(dependencies: RouteDependencies, request: ApiRequest, asked: BulkLettersRequest, asOf: Instant) {
  const { deadLetters, readPosition, ownWrites } = dependencies;
  const { tenant } = request.context;
  const { code = null, cause = null } = asked.filter ?? {};
  const matching = { status: "open" as const, code, cause, failedBefore: asOf };
  return {
    count: async (): Promise<number | null> => {
      await caughtUp(readPosition, "dead-letters", ownWrites.ofTenant(tenant));
      return askReadModel(() => deadLetters.count(tenant, matching));
    },
    page: async (cursor: string | null): Promise<PageOfMany> => {
      const place = { cursor: cursor === null ? null : Number(cursor), limit: pageSize };
      const found = await askReadModel(() => deadLetters.list(tenant, { ...matching, ...place }));
      return { items: found.letters.map(({ jobId, run }) => runId(jobId, run)), nextCursor: found.nextCursor };
    },
    act: actOn(dependencies, request, asked, asOf),
  };
}

function actOn(
  dependencies: RouteDependencies,
  { context, inTime }: ApiRequest,
  asked: BulkLettersRequest,
  asOf: Instant,
) {
  const { log, contentStore, ownWrites, now } = inTime(dependencies);
  const reason = asked.reason ?? null;
  const cause = toCause(context);

  const statusOfMailing = createStatusOfMailing(log);
  const requeue = async (id: string, letter: RunRef, from: JobVersion, isOurs: boolean): Promise<Acted> => {
    if ((await statusOfMailing(letter.job, from.state)) === "cancelled")
      return { id, outcome: "skipped", code: "mailing-has-ended" };
    const requeued = await requeueJob(log, contentStore, { ...letter, reason, cause, at: now(), from });
    if (requeued.outcome === "rejected") return { id, outcome: "skipped", code: requeued.rejection.code };
    if (requeued.outcome === "impossible") return { id, outcome: "skipped", code: requeued.why };
    ownWrites.remember(requeued.job, requeued.sequence);
    ownWrites.remember(letter.job, await log.lastDecision(letter.job));
    return requeued.isRepeat && !isOurs
      ? { id, outcome: "unchanged" }
      : { id, outcome: "changed", jobId: requeued.job.jobId };
  };
  const ignore = async (id: string, { job, run }: RunRef, from: JobVersion, isOurs: boolean): Promise<Acted> => {
    const command = { type: "IgnoreDeadLetter", at: now(), run, reason: reason ?? "" } as const;
    const outcome = await handleCommand(log, job, command, cause, { from });
    if (outcome.outcome === "rejected") return { id, outcome: "skipped", code: outcome.rejection.code };
    if (outcome.events.length === 0 && !isOurs) return { id, outcome: "unchanged" };
    ownWrites.remember(job, outcome.sequence);
    return { id, outcome: "changed", jobId: job.jobId };
  };

  return async (id: string, isAgain: boolean): Promise<Acted> => {
    const letter = toRunRef(context, id);
    if (letter === null) return { id, outcome: "skipped", code: "dead-letter-not-found" };
    try {
      const decisions = await log.readDecisions(letter.job);
      // Before it is acted upon again: a requeue that broke off has decided, and not made its job.
      const ours = { type: decidedBy[asked.action], actor: cause.actor, asOf };
      const isOurs = isAgain && isDecided(decisions, ours);
      const act = asked.action === "requeue" ? requeue : ignore;
      return await act(id, letter, foldDecisions(decisions), isOurs);
    } catch (failure) {
      if (failure instanceof Archived) return { id, outcome: "skipped", code: "archived" };
      throw failure;
    }
  };
}
