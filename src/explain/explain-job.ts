import { stateAfter } from "../domain/job/decider.ts";
import type { JobEvent, JobSettings } from "../domain/job/events.ts";
import { foldJobView, type JobStatus, type JobView } from "../domain/job/job-view.ts";
import type { JobState } from "../domain/job/state.ts";
import type { Instant } from "../domain/message.ts";
import type { StoredEvent } from "../event-log/event-log.ts";
import type { WorkerState } from "../workers/membership.ts";
import type { MailOfJob } from "./mail-of-job.ts";
import {
  type Asked,
  byWhom,
  type Explanation,
  type NotKnown,
  type Reason,
  reason,
  reasonsOfReceivers,
  reasonsOfRoutes,
  reasonsOfWorkers,
} from "./reason.ts";

/** `isAll`: there are no more than these. */
export type JobsAhead = { readonly count: number; readonly isAll: boolean };

/** The first job of a group that has not ended, and how many are before this one; `isAll` as above. */
export type GroupOrder = { readonly head: string | null; readonly before: number; readonly isAll: boolean };

/** What is known of a job besides its decisions; null for what its status makes no one ask. */
export type FactsOfJob = {
  readonly jobId: string;
  readonly now: Instant;
  readonly decisions: readonly StoredEvent<JobEvent>[];
  /** The live workers of all processes. */
  readonly workers: Asked<readonly WorkerState[]> | null;
  readonly group: Asked<GroupOrder> | null;
  /** Waiting jobs of the tenant that go first. */
  readonly ahead: Asked<JobsAhead> | null;
  readonly mail: Asked<MailOfJob> | null;
};

export type ExplainedJob = Explanation & { readonly status: JobStatus };

/** Since when a job whose time has come waits for a worker: its status says so only once one has taken it. */
export function dueSince({ status, settings, nextAttemptAt }: JobView, now: Instant): Instant | null {
  const time = status === "scheduled" ? settings.scheduledAt : status === "retrying" ? nextAttemptAt : null;
  return time !== null && time <= now ? time : null;
}

/** Why a job is where it is, and what it waits for; the first reason is the nearest one. Null for what is no job. */
export function explainJob(facts: FactsOfJob): ExplainedJob | null {
  const events = facts.decisions.map(({ event }) => event);
  const [view, state] = [foldJobView(events), stateAfter(events)];
  if (view === null || state.status === "absent") return null;
  const { status, nextAttemptAt, error, settings } = view;
  const answer = (...reasons: readonly Reason[]): ExplainedJob => ({ status, reasons, notKnown: notKnownOf(facts) });
  const last = lastOf(facts.decisions, openingOrEnding);
  const since = last?.event.at ?? view.createdAt;
  const due = dueSince(view, facts.now);
  switch (status) {
    case "completed":
      return answer(reason("completed", view.completedAt, "The job has ended: it completed."));
    case "cancelled": {
      const by = lastOf(facts.decisions, ["JobCancelled"]);
      const why = by?.event.type === "JobCancelled" ? byWhom(by.actor, by.event.data.reason) : "";
      return answer(reason("cancelled", view.completedAt, `The job was cancelled${why}.`));
    }
    case "failed": {
      const message = `The job failed: ${error?.code}: ${error?.message}`;
      return answer(reason("failed", view.completedAt, message, { changedBy: "a retry or a requeue" }));
    }
    case "paused": {
      const by = lastOf(facts.decisions, ["JobPaused"]);
      const why = by?.event.type === "JobPaused" ? byWhom(by.actor, by.event.data.reason) : "";
      return answer(reason("paused", by?.event.at ?? since, `The job was paused${why}.`, { changedBy: "a resume" }));
    }
    case "scheduled": {
      if (due !== null && settings.groupSha256 !== null) return answer(...reasonsOfGroup(facts, due));
      if (due !== null) return answer(...reasonsOfQueue(facts, settings, due));
      const until = settings.scheduledAt;
      const message = `The job is scheduled for ${until}.`;
      return answer(reason("scheduled", since, message, { until, changedBy: "a new scheduledAt" }));
    }
    case "retrying": {
      const next = due === null ? `is at ${nextAttemptAt}` : `was due at ${due}`;
      const message = `Attempt ${view.attempt} of ${settings.maxAttempts} ended with ${error?.code}: ${error?.message} The next one ${next}.`;
      const change = due === null ? { until: nextAttemptAt } : { changedBy: "a worker that takes it" };
      const { workers } = facts;
      return answer(
        reason("next-attempt", since, message, change),
        ...(due !== null && workers?.known ? reasonsOfWorkers(workers.fact, settings.type) : []),
        ...reasonsOfMail(facts, settings),
      );
    }
    case "pending":
      return answer(...reasonsOfGroup(facts, since));
    case "queued":
      return answer(...reasonsOfQueue(facts, settings, since));
    case "processing":
      return answer(...reasonsOfWork(facts, state, since));
  }
}

type DecisionType = JobEvent["type"];

/** Decisions after which a job is in another status. */
const openingOrEnding: readonly DecisionType[] = [
  "JobCreated",
  "JobStarted",
  "JobReleased",
  "JobRetryScheduled",
  "JobPaused",
  "JobResumed",
  "JobRescheduled",
  "JobCompleted",
  "JobCancelled",
  "JobFailed",
  "JobRetried",
];

const lastOf = (decisions: FactsOfJob["decisions"], types: readonly DecisionType[]) =>
  decisions.findLast(({ event }) => types.includes(event.type));

function notKnownOf({ workers, group, ahead, mail }: FactsOfJob): readonly NotKnown[] {
  const asked = [
    ["workers", workers],
    ["group", group],
    ["jobs-ahead", ahead],
    ["receivers", mail],
  ] as const;
  return asked.flatMap(([name, one]) => (one !== null && !one.known ? [name] : []));
}

function reasonsOfGroup({ jobId, group, workers, decisions }: FactsOfJob, since: string): readonly Reason[] {
  const head = group?.known ? group.fact.head : null;
  if (group?.known && head !== null && head !== jobId) {
    const { before, isAll } = group.fact;
    const ahead = isAll ? `${counted(before)} in all` : `at least ${counted(before)}`;
    const message = `The jobs of its group run one at a time: job ${head} is the first, and ${ahead} go before this one.`;
    return [reason("group-waits", since, message, { changedBy: `the end of job ${head}` })];
  }
  const type = decisions[0]?.event.type === "JobCreated" ? decisions[0].event.data.type : "";
  const own = workers?.known ? reasonsOfWorkers(workers.fact, type) : [];
  const message = group?.known
    ? "The jobs of its group run one at a time, and it is its turn."
    : "The jobs of its group run one at a time.";
  return [reason("group-turn", since, message, { changedBy: "a worker that takes it" }), ...own];
}

/** What holds up its mails: receivers that have asked for patience, and routes that are away. */
function reasonsOfMail({ workers, mail }: FactsOfJob, settings: Pick<JobSettings, "route">): readonly Reason[] {
  const slowed = mail?.known ? reasonsOfReceivers(mail.fact.slowed) : [];
  return [...(workers?.known ? awayRoutes(workers.fact, mail, settings) : []), ...slowed];
}

function awayRoutes(live: readonly WorkerState[], mail: FactsOfJob["mail"], { route }: Pick<JobSettings, "route">) {
  const names = route === undefined ? (mail?.known ? mail.fact.routes : []) : [route];
  return reasonsOfRoutes(live, names, route !== undefined);
}

function reasonsOfQueue(
  { workers, ahead, mail }: FactsOfJob,
  settings: Pick<JobSettings, "type" | "route">,
  since: string,
): readonly Reason[] {
  const live = workers?.known ? workers.fact : null;
  const ofWorkers =
    live === null ? [] : [...reasonsOfWorkers(live, settings.type), ...awayRoutes(live, mail, settings)];
  const isBehind = ahead?.known && ahead.fact.count > 0;
  const message = "The job waits for a worker to take it.";
  return [
    ...ofWorkers,
    ...(isBehind ? [behind(ahead.fact, since)] : []),
    ...(ofWorkers.length > 0 || isBehind
      ? []
      : [reason("worker-awaited", since, message, { changedBy: "a worker that takes it" })]),
  ];
}

/** Jobs of other tenants wait in the same lane; how many is not told. */
const behind = ({ count, isAll }: JobsAhead, since: string): Reason =>
  reason(
    "jobs-ahead",
    since,
    `${isAll ? "" : "At least "}${counted(count)} of yours of the same kind and of no lower priority, created before this one, ${count === 1 && isAll ? "waits" : "wait"}, too.`,
    { changedBy: "a worker that takes those" },
  );

const counted = (count: number): string => `${count} ${count === 1 ? "job" : "jobs"}`;

function reasonsOfWork(facts: FactsOfJob, state: JobState, since: string): readonly Reason[] {
  if (state.status !== "processing") return [];
  const { workers } = facts;
  const { worker, isReleased, settings } = state;
  const ofWorkers = workers?.known ? reasonsOfWorkers(workers.fact, settings.type) : [];
  if (isReleased) {
    const message = `The worker ${worker} stopped or lost its connection, and gave the job back; another one goes on with it.`;
    return [reason("worker-stopped", since, message, { changedBy: "a worker that takes it" }), ...ofWorkers];
  }
  const holder = workers?.known ? workers.fact.find(({ name }) => name === worker) : undefined;
  if (workers?.known && holder === undefined) {
    const message = `The worker ${worker} has the job, and does not answer: another one takes it over.`;
    return [reason("worker-silent", since, message, { changedBy: "a worker that takes it over" }), ...ofWorkers];
  }
  const message = `The worker ${worker} is at work on it.`;
  const isAway = holder !== undefined && holder.breaker !== null && holder.breaker !== "closed";
  const away = "The server that it needs is away: the worker has found it so, and probes it.";
  return [
    ...(isAway ? [reason("server-away", null, away, { changedBy: "the return of the server" })] : []),
    reason("worker-at-work", since, message, { changedBy: "the end of the attempt" }),
    ...reasonsOfMail(facts, settings),
  ];
}
