import { minutesReachMs, type Point } from "../../../projections/jobs/stats/queries.ts";
import type { Instant } from "../../domain/message.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { statsSeries } from "../answers/service.ts";
import { type Answer, json, refuseFaults } from "../server/answer.ts";
import { oneOf, optionalInstant, type Parameters } from "../server/query.ts";
import { type ApiRequest, route } from "../server/route.ts";
import { askReadModel, awaitMinSequence, readSequenceHeader } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const steps = {
  "1m": minuteMs,
  "5m": 5 * minuteMs,
  "15m": 15 * minuteMs,
  "1h": hourMs,
  "6h": 6 * hourMs,
  "1d": dayMs,
} as const;

type Step = keyof typeof steps;
const stepNames = Object.keys(steps) as readonly Step[];

type Query = { readonly from: Instant | null; readonly to: Instant | null; readonly step: Step | null };

const parameters: Parameters<Query> = {
  from: optionalInstant,
  to: optionalInstant,
  step: oneOf(stepNames, null),
};

const mostPoints = 1500;
/** Where no step is asked for, a chart with more would show no more. */
const enoughPoints = 400;

type Dependencies = Pick<RouteDependencies, "stats" | "readPosition" | "now">;

/** GET /stats/series: what happened over time. */
export const statsSeriesRoute = (dependencies: Dependencies) =>
  route<Query>({
    method: "GET",
    path: "/stats/series",
    describes: {
      operation: "readStatsSeries",
      summary: "What happened in each step of a time: each minute of the last 31 days, each hour of the last 366.",
      headers: ["Min-Sequence"],
      answers: {
        200: { is: "The last 24 hours, if no time is given.", json: statsSeries, headers: ["Read-Sequence"] },
      },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    query: parameters,
    handle: (request) => answer(request, dependencies),
  });

async function answer(
  { context, query, minSequence }: ApiRequest<Query>,
  { stats, readPosition, now }: Dependencies,
): Promise<Answer> {
  const nowMs = Date.parse(now());
  const to = query.to === null ? nowMs : Date.parse(query.to);
  const from = query.from === null ? to - dayMs : Date.parse(query.from);
  const isOld = from < nowMs - minutesReachMs;
  const usable = stepNames.filter(
    (name) => (to - from) / steps[name] <= mostPoints && !(isOld && steps[name] < hourMs),
  );
  const enough = usable.find((name) => (to - from) / steps[name] <= enoughPoints);
  const step = query.step ?? enough ?? usable.at(-1);
  if (from >= to || step === undefined) {
    const message = "from and to name no time that can be answered; expected from before to, and 1500 days at most";
    return refuseFaults([{ pointer: "?from", message }]);
  }
  if (!usable.includes(step)) {
    const message = `step is ${step}, which this time does not have, or not in ${mostPoints} points; expected one of ${usable.join(", ")}`;
    return refuseFaults([{ pointer: "?step", message }]);
  }
  const behind = await awaitMinSequence(readPosition, "jobs", minSequence);
  if (behind !== null) return behind;
  const stepMs = steps[step];
  const span = { fromMs: Math.floor(from / stepMs) * stepMs, toMs: Math.ceil(to / stepMs) * stepMs, stepMs };
  const found = await askReadModel(() => stats.series(context.tenant, span));
  const body: AnswerOf<typeof statsSeries> = {
    from: new Date(span.fromMs).toISOString(),
    to: new Date(to).toISOString(),
    stepSeconds: stepMs / 1000,
    points: everyPoint(span, found.points),
  };
  return json(body, readSequenceHeader(found.readSequence));
}

type Span = { readonly fromMs: number; readonly toMs: number; readonly stepMs: number };

function everyPoint({ fromMs, toMs, stepMs }: Span, found: readonly Point[]): AnswerOf<typeof statsSeries>["points"] {
  const known = new Map(found.map(({ at, counts }) => [at, counts]));
  return Array.from({ length: Math.round((toMs - fromMs) / stepMs) }, (_, index) => {
    const at = new Date(fromMs + index * stepMs).toISOString();
    return toPoint(at, known.get(at));
  });
}

const toPoint = (at: Instant, counts: Point["counts"] | undefined) => ({
  at,
  jobsCreated: counts?.jobs_created ?? 0,
  jobsCompleted: counts?.jobs_completed ?? 0,
  jobsFailed: counts?.jobs_failed ?? 0,
  jobsCancelled: counts?.jobs_cancelled ?? 0,
  mailsSent: counts?.mails_sent ?? 0,
  mailsFailed: counts?.mails_failed ?? 0,
  mailsUnknown: counts?.mails_unknown ?? 0,
  mailsSuppressed: counts?.mails_suppressed ?? 0,
  mailsBounced: counts?.mails_bounced ?? 0,
  mailsComplained: counts?.mails_complained ?? 0,
});
