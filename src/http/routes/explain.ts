import { everyJob } from "../../../projections/jobs/list-options.ts";
import { decodeContent } from "../../content/encode-content.ts";
import type { JobStatus } from "../../domain/job/job-view.ts";
import { type ExplainPorts, explainJobNow, explainMailingNow } from "../../explain/gather-facts.ts";
import { toLoggable } from "../../process/logger.ts";
import { jobExplanation, mailingExplanation } from "../answers/explanation.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { jobNotFound, json, mailingNotFound } from "../server/answer.ts";
import { toJobRef } from "../server/request-context.ts";
import { type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<
  RouteDependencies,
  "log" | "jobs" | "waiting" | "system" | "contentStore" | "routesFor" | "providers" | "logger" | "now"
>;

/** Why a job or a mailing is where it is. The log says where; what is not known of the rest is left out, and named. */
export const explainRoutes = (dependencies: Dependencies): readonly Route[] => [
  route({
    method: "GET",
    path: "/jobs/:jobId/explain",
    describes: {
      operation: "explainJob",
      summary: "Why the job is where it is and what it waits for.",
      answers: { 200: { is: "The reasons, the nearest one first.", json: jobExplanation } },
      needs: ["log"],
      problems: ["job-not-found"],
    },
    handle: async ({ context, part, inTime }) => {
      const ref = toJobRef(context, part("jobId"));
      const found = ref === null ? null : await explainJobNow(portsOf(inTime(dependencies)), ref);
      if (ref === null || found === null) return jobNotFound();
      return json({ id: ref.jobId, ...found } satisfies AnswerOf<typeof jobExplanation>);
    },
  }),
  route({
    method: "GET",
    path: "/mailings/:mailingId/explain",
    describes: {
      operation: "explainMailing",
      summary: "Why the mailing is where it is and what it waits for, with its parts in sum.",
      answers: { 200: { is: "The reasons.", json: mailingExplanation } },
      needs: ["log"],
      problems: ["mailing-not-found"],
    },
    handle: async ({ context, part, inTime }) => {
      const ref = toJobRef(context, part("mailingId"));
      const found =
        ref === null ? null : await explainMailingNow(portsOf(inTime(dependencies)), ref, dependencies.now());
      if (ref === null || found === null) return mailingNotFound();
      return json({ id: ref.jobId, ...found } satisfies AnswerOf<typeof mailingExplanation>);
    },
  }),
];

const openStatuses: readonly JobStatus[] = ["pending", "scheduled", "queued", "processing", "retrying", "paused"];

const portsOf = ({ log, jobs, waiting, system, logger, now, ...mail }: Dependencies): ExplainPorts => ({
  log,
  now,
  mail: {
    content: async (job) => {
      const stored = await mail.contentStore.get(job);
      return stored === null ? null : decodeContent(stored);
    },
    throttles: system.throttles,
    routesFor: mail.routesFor,
    providers: mail.providers,
  },
  workers: system.workers,
  group: ({ jobId }, groupSha256) => waiting.groupOrder(jobId, groupSha256),
  queuedBefore: async (tenant, createdAt) => {
    const found = await jobs.list(tenant, { ...everyJob, statuses: ["queued"], createdBefore: createdAt });
    return { jobs: found.jobs, isAll: found.nextCursor === null };
  },
  openParts: async ({ tenant, jobId }) => {
    const counts = await Promise.all(
      openStatuses.map(async (status) => {
        const { total } = await jobs.list(tenant, { ...everyJob, statuses: [status], mailing: jobId, pageSize: 1 });
        return [status, total ?? 0] as const;
      }),
    );
    return Object.fromEntries(counts);
  },
  report: (failure) => logger.warn({ failure: toLoggable(failure) }, "a fact for an explanation is not to be had"),
});
