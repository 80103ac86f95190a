import type { ProjectionLag } from "../../../projections/following/projection-lag.ts";
import type { Period, Stats, Waiting } from "../../../projections/jobs/stats/queries.ts";
import type { Priority } from "../../domain/job/events.ts";
import type { JobStatus } from "../../domain/job/job-view.ts";
import type { Instant } from "../../domain/message.ts";
import { shareOf } from "../../domain/recipients/mail-counts.ts";
import { toLoggable } from "../../process/logger.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { stats as statsSchema } from "../answers/service.ts";
import { toThrottleAnswer } from "../answers/throttles.ts";
import { json } from "../server/answer.ts";
import { type ApiRequest, type Route, route } from "../server/route.ts";
import { askReadModel, awaitMinSequence, readSequenceHeader } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "stats" | "projectionLags" | "readPosition" | "system" | "logger" | "now">;

/** GET /stats of the caller's tenant, and GET /admin/jobs/stats of all tenants together. */
export const statsRoutes = (dependencies: Dependencies): readonly Route[] => [
  route({
    method: "GET",
    path: "/stats",
    describes: {
      operation: "readStats",
      summary: "Counts, rates and waiting jobs of the caller's tenant.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "As they are now.", json: statsSchema, headers: ["Read-Sequence"] } },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    handle: (request) => answer(request, request.context.tenant, dependencies),
  }),
  route({
    method: "GET",
    path: "/admin/jobs/stats",
    describes: {
      operation: "readAllStats",
      summary: "The same for all tenants together.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "As they are now.", json: statsSchema, headers: ["Read-Sequence"] } },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    scope: "admin",
    handle: (request) => answer(request, null, dependencies),
  }),
];

/** More of them are what GET /api/admin/throttles lists. */
const mostShown = 5;

/** The last 5 minutes and the last 60 minutes. */
const periods = [5, 60];

async function answer(
  { minSequence }: ApiRequest,
  tenant: string | null,
  { stats, projectionLags, readPosition, system, logger, now }: Dependencies,
) {
  const behind = await awaitMinSequence(readPosition, "jobs", minSequence);
  if (behind !== null) return behind;
  const at = now();
  const [found, lags, throttles] = await Promise.all([
    askReadModel(() => stats.read(tenant, at, periods)),
    askReadModel(projectionLags),
    throttlesFor(tenant, system, at).catch((failure: unknown) => {
      logger.warn({ failure: toLoggable(failure) }, "the slowed receivers are not to be had");
      return null;
    }),
  ]);
  return json({ ...toAnswer(found, lags, at), throttles }, readSequenceHeader(found.readSequence));
}

/** A tenant hears how many there are: a domain by name may be one that only another tenant mails. */
async function throttlesFor(tenant: string | null, system: Dependencies["system"], at: Instant) {
  const found = await system.throttles();
  const shown = tenant === null ? found.slice(0, mostShown) : [];
  return { total: found.length, slowest: shown.map((one) => toThrottleAnswer(one, Date.parse(at))) };
}

type Answered = Omit<AnswerOf<typeof statsSchema>, "throttles">;

function toAnswer(stats: Stats, lags: readonly ProjectionLag[], at: Instant): Answered {
  const [last5Minutes, last60Minutes] = stats.periods;
  if (last5Minutes === undefined || last60Minutes === undefined) throw new Error("A period was not counted.");
  const waiting = (priority: Priority) => toWaiting(stats.waiting.get(priority) ?? nothingWaits, at);
  return {
    at,
    jobs: { ...noJobs, ...Object.fromEntries(stats.jobs) },
    waiting: { high: waiting("high"), normal: waiting("normal"), low: waiting("low") },
    perMinute: { last5Minutes: perMinute(last5Minutes, at), last60Minutes: perMinute(last60Minutes, at) },
    failureRate: failureRateOf(last60Minutes),
    bounceRate: shareOf(last60Minutes.counts.mails_bounced, last60Minutes.counts.mails_sent),
    complaintRate: shareOf(last60Minutes.counts.mails_complained, last60Minutes.counts.mails_sent),
    projections: Object.fromEntries(lags.map(({ projection, ...lag }) => [projection, lag])),
  };
}

const noJobs = {
  pending: 0,
  scheduled: 0,
  queued: 0,
  processing: 0,
  retrying: 0,
  paused: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
} satisfies Record<JobStatus, number>;

const nothingWaits: Waiting = { jobs: 0, oldestSince: null };

const toWaiting = ({ jobs, oldestSince }: Waiting, at: Instant) => ({
  jobs,
  oldestAgeSeconds: oldestSince === null ? null : Math.max(0, secondsBetween(oldestSince, at)),
});

const secondsBetween = (from: Instant, to: Instant): number => (Date.parse(to) - Date.parse(from)) / 1000;

/** A period counts whole minutes and the current one: the divisor is the time that has really passed. */
function perMinute({ from, counts }: Period, at: Instant) {
  const minutes = Math.max(secondsBetween(from, at), 1) / 60;
  const rate = (count: number): number => Math.round((count / minutes) * 100) / 100;
  return {
    jobsCreated: rate(counts.jobs_created),
    jobsCompleted: rate(counts.jobs_completed),
    jobsFailed: rate(counts.jobs_failed),
    jobsCancelled: rate(counts.jobs_cancelled),
    mailsSent: rate(counts.mails_sent),
    mailsFailed: rate(counts.mails_failed),
    mailsUnknown: rate(counts.mails_unknown),
    mailsSuppressed: rate(counts.mails_suppressed),
    mailsBounced: rate(counts.mails_bounced),
    mailsComplained: rate(counts.mails_complained),
  };
}

/** Over the jobs that ended in the last hour; null where none did. */
const failureRateOf = ({ counts }: Period) => ({
  jobs: shareOf(counts.jobs_failed, counts.jobs_failed + counts.jobs_completed),
  mails: shareOf(counts.mails_failed, counts.mails_failed + counts.mails_sent + counts.mails_unknown),
});
