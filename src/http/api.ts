import Koa from "koa";
import type { Access } from "../access/access.ts";
import type { Probe } from "../health/probe.ts";
import { createImporter } from "../mailings/import-recipients.ts";
import { asyncApiDocument } from "./asyncapi-document.ts";
import { openApiDocument, type PlacedRoute } from "./openapi/openapi-document.ts";
import { postmanCollection } from "./openapi/postman-collection.ts";
import { createOwnWrites } from "./routes/ask-read-model.ts";
import { bounceRoutes } from "./routes/bounces.ts";
import { bulkLettersRoute } from "./routes/bulk-dead-letters.ts";
import { bulkJobsRoute } from "./routes/bulk-jobs.ts";
import { changeJobRoutes } from "./routes/change-job.ts";
import { changeMailingRoutes } from "./routes/change-mailing.ts";
import { scheduleChangeRoutes } from "./routes/change-schedule.ts";
import { createJobRoute } from "./routes/create-job.ts";
import { scheduleCreationRoutes } from "./routes/create-schedule.ts";
import { type DashboardFiles, dashboardRoutes } from "./routes/dashboard.ts";
import { deadLetterRoutes } from "./routes/dead-letters.ts";
import { type ApiReferenceFiles, apiReferenceRoutes, documentRoute } from "./routes/documents.ts";
import { eraseRoutes } from "./routes/erase.ts";
import { eventFeedRoutes } from "./routes/event-feed.ts";
import { evidenceRoutes } from "./routes/evidence.ts";
import { explainRoutes } from "./routes/explain.ts";
import { jobEventsRoute } from "./routes/job-history.ts";
import { jobLogsRoute } from "./routes/job-logs.ts";
import { jobRecipientsRoute } from "./routes/job-recipients.ts";
import { jobResultRoute } from "./routes/job-result.ts";
import { listJobsRoute } from "./routes/list-jobs.ts";
import { listMailingRecipientsRoute } from "./routes/list-mailing-recipients.ts";
import { mailRatesRoute } from "./routes/mail-rates.ts";
import { mailRouteRoutes } from "./routes/mail-routes.ts";
import { type Mailbox, mailboxRoutes } from "./routes/mailbox.ts";
import { mailingHistoryRoutes } from "./routes/mailing-history.ts";
import { mailingLogsRoute } from "./routes/mailing-logs.ts";
import { mailingRecipientsRoute } from "./routes/mailing-recipients.ts";
import { mailingRoutes } from "./routes/mailings.ts";
import { notificationRoutes } from "./routes/notifications.ts";
import { readJobRoute } from "./routes/read-job.ts";
import { readinessRoute } from "./routes/readiness.ts";
import { recipientLedgerRoutes } from "./routes/recipient-ledger.ts";
import { recipientMailRoute } from "./routes/recipient-mail.ts";
import type { RouteDependencies } from "./routes/route-dependencies.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { sealRoutes } from "./routes/seals.ts";
import { healthRoutes, type MetricsPage, meRoute, metricsRoute } from "./routes/service.ts";
import { statsRoutes } from "./routes/stats.ts";
import { statsSeriesRoute } from "./routes/stats-series.ts";
import { streamJobRoute } from "./routes/stream-job.ts";
import { streamMailingRoute } from "./routes/stream-mailing.ts";
import { suppressionFileRoutes } from "./routes/suppression-files.ts";
import { suppressionRoutes } from "./routes/suppressions.ts";
import { systemRoutes } from "./routes/system.ts";
import { templateRoutes } from "./routes/templates.ts";
import { testMailingRoute } from "./routes/test-mailing.ts";
import { throttlesRoute } from "./routes/throttles.ts";
import { unsubscribeRoutes } from "./routes/unsubscribe.ts";
import { webhookDeliveryRoutes } from "./routes/webhook-deliveries.ts";
import { webhookEndpointRoutes } from "./routes/webhook-endpoints.ts";
import type { BodyBudget } from "./server/body-budget.ts";
import { answerEverything, answerUnrouted, logLostAnswer, type Served } from "./server/middleware.ts";
import type { ApiState } from "./server/mount-route.ts";
import type { Route } from "./server/route.ts";
import { createRouting } from "./server/routing.ts";

export type ApiDependencies = Omit<RouteDependencies, "ownWrites" | "importer"> & {
  readonly access: Access;
  /** The memory that this process sets aside for request bodies. */
  readonly bodies: BodyBudget;
  /** One for each thing that this process depends on. */
  readonly probes: readonly Probe[];
  readonly metrics: MetricsPage;
  readonly served: Served;
  /** Null where the service does not catch its mail itself. */
  readonly mailbox: Mailbox | null;
  /** Null where it was not built. */
  readonly dashboard: DashboardFiles | null;
  /** Null where it was not built. */
  readonly apiReference: ApiReferenceFiles | null;
  /** How the names begin under which subscribers find the log in NATS. */
  readonly natsPrefix: string;
};

/** The HTTP API as a Koa application, not yet listening (see listen.ts). */
export function createApi(dependencies: ApiDependencies): Koa {
  const routing = createRouting();
  const importer = createImporter(dependencies);
  const forRoutes = { ...dependencies, ownWrites: createOwnWrites(), importer };
  let openApi: object | null = null;
  const describe = (): object => {
    openApi ??= openApiDocument([...placedAt("/api", underApi), ...placedAt("", outsideApi)]);
    return openApi;
  };
  const { underApi, outsideApi } = routesOf(forRoutes, describe);
  for (const base of ["/api", "/api/v1"]) {
    for (const route of underApi) routing.mount(base, route, dependencies);
  }
  for (const route of outsideApi) routing.mount("", route, dependencies);
  const app = new Koa<ApiState>();
  app.on("error", logLostAnswer(dependencies.logger));
  app.use(answerEverything(dependencies.logger, dependencies.served));
  app.use(routing.dispatch);
  app.use(answerUnrouted(routing));
  return app as Koa;
}

/** The OpenAPI document of a service with all its parts, made without one: routes use what they are given in requests only. */
export function describeApi(): object {
  const given: object = new Proxy(() => given, { get: (_, name) => (name === "natsPrefix" ? "" : given) });
  const { underApi, outsideApi } = routesOf(given as ApiDependencies & RouteDependencies, () => ({}));
  return openApiDocument([...placedAt("/api", underApi), ...placedAt("", outsideApi)]);
}

const placedAt = (base: string, routes: readonly Route[]): readonly PlacedRoute[] =>
  routes.map((route) => ({ base, route }));

/** Those that answer under /api and /api/v1, and the others. */
function routesOf(dependencies: ApiDependencies & RouteDependencies, openApi: () => object) {
  return {
    underApi: [...jobRoutes(dependencies), meRoute(dependencies.access)],
    outsideApi: [
      ...healthRoutes(dependencies),
      metricsRoute(dependencies.metrics, "admin"),
      ...mailboxRoutes(dependencies.mailbox),
      ...unsubscribeRoutes(dependencies),
      ...dashboardRoutes(dependencies.dashboard),
      ...apiReferenceRoutes(dependencies.apiReference),
      ...documentRoutes(openApi, () => asyncApiDocument(dependencies.natsPrefix)),
    ],
  };
}

/** A document is made when it is asked for: that costs more than all else that an API makes when it starts. */
const documentRoutes = (openApi: () => object, asyncApi: () => object) => [
  documentRoute({
    path: "/openapi.json",
    operation: "readOpenApi",
    summary: "This document.",
    document: openApi,
  }),
  documentRoute({
    path: "/postman.json",
    operation: "readPostmanCollection",
    summary: "The same as a collection for Postman, Bruno and their like, with an example of each request.",
    document: () => postmanCollection(openApi()),
  }),
  documentRoute({
    path: "/asyncapi.json",
    operation: "readAsyncApi",
    summary: "What subscribers of the event log receive, as AsyncAPI.",
    document: asyncApi,
  }),
];

const jobRoutes = (dependencies: RouteDependencies) => [
  createJobRoute(dependencies),
  readJobRoute(dependencies),
  listJobsRoute(dependencies),
  ...changeJobRoutes(dependencies),
  bulkJobsRoute(dependencies),
  ...mailingRoutes(dependencies),
  mailingRecipientsRoute(dependencies),
  listMailingRecipientsRoute(dependencies),
  mailingLogsRoute(dependencies),
  ...mailingHistoryRoutes(dependencies),
  streamMailingRoute(dependencies),
  ...changeMailingRoutes(dependencies),
  testMailingRoute(dependencies),
  ...eraseRoutes(dependencies),
  jobLogsRoute(dependencies),
  jobRecipientsRoute(dependencies),
  recipientMailRoute(dependencies),
  ...recipientLedgerRoutes(dependencies),
  ...explainRoutes(dependencies),
  jobEventsRoute(dependencies),
  jobResultRoute(dependencies),
  streamJobRoute(dependencies),
  ...eventFeedRoutes(dependencies),
  ...deadLetterRoutes(dependencies),
  bulkLettersRoute(dependencies),
  ...suppressionRoutes(dependencies),
  ...suppressionFileRoutes(dependencies),
  ...bounceRoutes(dependencies),
  ...scheduleRoutes(dependencies),
  ...scheduleCreationRoutes(dependencies),
  ...scheduleChangeRoutes(dependencies),
  ...templateRoutes(dependencies),
  ...statsRoutes(dependencies),
  statsSeriesRoute(dependencies),
  mailRatesRoute(dependencies),
  ...systemRoutes(dependencies),
  throttlesRoute(dependencies),
  readinessRoute(dependencies),
  ...mailRouteRoutes(dependencies),
  ...evidenceRoutes(dependencies),
  ...sealRoutes(dependencies),
  ...webhookEndpointRoutes(dependencies),
  ...webhookDeliveryRoutes(dependencies),
  ...notificationRoutes(dependencies),
];
