import type { ProjectionLag } from "../../../projections/following/projection-lag.ts";
import type { Period, Stats } from "../../../projections/stats/queries.ts";
import type { Priority } from "../../domain/job/events.ts";
import type { JobStatus } from "../../domain/job/job-view.ts";
import type { Instant } from "../../domain/message.ts";
import { stats as statsSchema } from "../answers/service.ts";
import { json } from "../server/answer.ts";
import { type ApiRequest, type Route, route } from "../server/route.ts";
import { askReadModel, awaitMinSequence, readSequenceHeader } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "stats" | "projectionLags" | "readPosition" | "now">;

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
      summary: "The same of all tenants together.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "As they are now.", json: statsSchema, headers: ["Read-Sequence"] } },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    scope: "admin",
    handle: (request) => answer(request, null, dependencies),
  }),
];

const periods = { last5Minutes: 5, last60Minutes: 60 } as const;

async function answer(
  { minSequence }: ApiRequest,
  tenant: string | null,
  { stats, projectionLags, readPosition, now }: Dependencies,
) {
  const behind = await awaitMinSequence(readPosition, "stats", minSequence);
  if (behind !== null) return behind;
  const at = now();
  const [found, lags] = await Promise.all([
    askReadModel(() => stats.read(tenant, at, Object.values(periods))),
    askReadModel(projectionLags),
  ]);
  return json(toAnswer(found, lags, at), readSequenceHeader(found.readSequence));
}

function toAnswer(stats: Stats, lags: readonly ProjectionLag[], at: Instant) {
  const ofPeriods = Object.keys(periods).map((name, index) => [name, stats.periods[index]] as const);
  const longest = stats.periods.at(-1);
  return {
    at,
    jobs: { ...noJobs, ...Object.fromEntries(stats.jobs) },
    waiting: Object.fromEntries([...stats.waiting].map(([priority, waiting]) => [priority, toWaiting(waiting, at)])),
    perMinute: Object.fromEntries(ofPeriods.map(([name, period]) => [name, period && perMinute(period, at)])),
    failureRate: longest === undefined ? null : failureRateOf(longest),
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

type Waiting = Stats["waiting"] extends ReadonlyMap<Priority, infer One> ? One : never;

const toWaiting = ({ jobs, oldestSince }: Waiting, at: Instant) => ({
  jobs,
  oldestAgeSeconds: oldestSince === null ? null : Math.max(0, secondsBetween(oldestSince, at)),
});

const secondsBetween = (from: Instant, to: Instant): number => (Date.parse(to) - Date.parse(from)) / 1000;

/** The minutes of a period are whole ones, and the one that runs: what it is divided by is the time that has passed. */
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
  };
}

/** Of those that ended in the last hour; null where none did. */
const failureRateOf = ({ counts }: Period) => ({
  jobs: shareOf(counts.jobs_failed, counts.jobs_failed + counts.jobs_completed),
  mails: shareOf(counts.mails_failed, counts.mails_failed + counts.mails_sent + counts.mails_unknown),
});

const shareOf = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000;
