import Router from "@koa/router";
import Koa from "koa";
import type { Access } from "../access/access.ts";
import { measureRequests, type ServedRequest } from "./measure-requests.ts";
import { answerEverything, answerUnrouted, logLostAnswer, toContext } from "./middleware.ts";
import { type ApiState, mountRoute } from "./mount-route.ts";
import { createOwnWrites } from "./own-writes.ts";
import type { RouteDependencies } from "./route-dependencies.ts";
import { changeJobRoutes } from "./routes/change-job.ts";
import { createJobRoute } from "./routes/create-job.ts";
import { deadLetterRoutes } from "./routes/decide-dead-letter.ts";
import { eventFeedRoute } from "./routes/event-feed.ts";
import { healthRoutes, type Probe } from "./routes/health.ts";
import { jobEventsRoute } from "./routes/job-events.ts";
import { jobLogsRoute } from "./routes/job-logs.ts";
import { listDeadLettersRoute } from "./routes/list-dead-letters.ts";
import { listJobsRoute } from "./routes/list-jobs.ts";
import { type Mailbox, mailboxRoutes } from "./routes/mailbox.ts";
import { type MetricsPage, metricsRoute } from "./routes/metrics.ts";
import { readJobRoute } from "./routes/read-job.ts";
import { statsRoutes } from "./routes/stats.ts";
import { streamJobRoute } from "./routes/stream-job.ts";
import { webhookDeliveryRoutes } from "./routes/webhook-deliveries.ts";
import { webhookEndpointRoutes } from "./routes/webhook-endpoints.ts";
import { webhookTestRoute } from "./routes/webhook-test.ts";

export type ApiDependencies = Omit<RouteDependencies, "ownWrites"> & {
  readonly access: Access;
  /** One for each thing that this process depends on. */
  readonly probes: readonly Probe[];
  readonly metrics: MetricsPage;
  /** Hears of every request that was answered. */
  readonly served: (request: ServedRequest) => void;
  /** Where the service catches its mail itself; else null. */
  readonly mailbox: Mailbox | null;
};

/** The HTTP API as a Koa application, not yet listening (see listen.ts). */
export function createApi(dependencies: ApiDependencies): Koa {
  const router = new Router<ApiState>({ sensitive: true });
  const forRoutes: RouteDependencies = { ...dependencies, ownWrites: createOwnWrites() };
  for (const base of ["/api", "/api/v1"]) {
    for (const route of jobRoutes(forRoutes)) mountRoute(router, base, route, dependencies.access);
  }
  const outsideApi = [
    ...healthRoutes(dependencies),
    metricsRoute(dependencies.metrics, "admin"),
    ...mailboxRoutes(dependencies.mailbox),
  ];
  for (const route of outsideApi) mountRoute(router, "", route, dependencies.access);
  const app = new Koa<ApiState>();
  app.on("error", logLostAnswer(dependencies.logger));
  app.use(toContext());
  app.use(measureRequests(dependencies.served));
  app.use(answerEverything(dependencies.logger));
  app.use(router.routes());
  app.use(answerUnrouted(router));
  return app as Koa;
}

const jobRoutes = (dependencies: RouteDependencies) => [
  createJobRoute(dependencies),
  readJobRoute(dependencies),
  listJobsRoute(dependencies),
  ...changeJobRoutes(dependencies),
  jobLogsRoute(dependencies),
  jobEventsRoute(dependencies),
  streamJobRoute(dependencies),
  eventFeedRoute(dependencies),
  listDeadLettersRoute(dependencies),
  ...deadLetterRoutes(dependencies),
  ...statsRoutes(dependencies),
  ...webhookEndpointRoutes(dependencies),
  webhookTestRoute(dependencies),
  ...webhookDeliveryRoutes(dependencies),
];
