import type { Logger } from "pino";
import { allProjectors } from "../../projections/all-projectors.ts";
import { createDeadLetterQueries } from "../../projections/dead-letters/queries.ts";
import { createReadPositions } from "../../projections/following/read-position.ts";
import { createMailingQueries } from "../../projections/jobs/mailings/queries.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import { createLogQueries } from "../../projections/jobs/recipients/log-queries.ts";
import { createRecipientQueries } from "../../projections/jobs/recipients/queries.ts";
import { createTenantStretches } from "../../projections/jobs/tenant-stretches.ts";
import { createMailRateQueries } from "../../projections/mail-rates/queries.ts";
import { createNotificationQueries } from "../../projections/notifications/queries.ts";
import { createReadModels } from "../../projections/read-models.ts";
import { createScheduleQueries } from "../../projections/schedules/queries.ts";
import { createWaitingQueries } from "../../projections/waiting/queries.ts";
import { type Access, createAccess } from "../access/access.ts";
import { noKeyYet, whyNotToStart } from "../access/auth-mode.ts";
import { createJetStreamAccessStore } from "../access/jetstream-access-store.ts";
import { createJetStreamQuota } from "../access/jetstream-quota.ts";
import type { KeyRing } from "../access/key-ring.ts";
import { openApiReference } from "../api-reference/api-reference.ts";
import { readDashboard } from "../dashboard/dashboard.ts";
import { providersOf } from "../domain/throttles/providers.ts";
import { createJetStreamStoredThings } from "../erasure/jetstream-stored-things.ts";
import { createJetStreamStreamSizes } from "../event-log/following/jetstream-log-gauge.ts";
import { typesOfJobs } from "../event-log/subjects.ts";
import type { Probe } from "../health/probe.ts";
import { createLive } from "../history/live/live.ts";
import { createApi } from "../http/api.ts";
import { createOperatorsApi, createWaitingApi } from "../http/operators-api.ts";
import type { RouteDependencies } from "../http/routes/route-dependencies.ts";
import { createBodyBudget } from "../http/server/body-budget.ts";
import { type Listening, listen } from "../http/server/listen.ts";
import type { RouteBook } from "../mail/routes/route-book.ts";
import { createJetStreamThrottleStore } from "../mail/throttles/jetstream-throttle-store.ts";
import { createThrottleView } from "../mail/throttles/throttle-view.ts";
import { createMysqlOutboxRequests } from "../outbox/mysql-outbox-requests.ts";
import { CannotStart, type Lifecycle } from "../process/lifecycle.ts";
import type { CompleteConfig } from "../settings/config.ts";
import { createSuppressionList } from "../suppressions/suppression-list.ts";
import { createJetStreamMembership } from "../workers/jetstream-membership.ts";
import { reportsOf } from "./bounces-role.ts";
import { graceMsOf } from "./grace.ts";
import type { SharedKeys } from "./keys.ts";
import { openRouteStore, routesForOf } from "./mail-routes-role.ts";
import type { Monitoring } from "./monitoring.ts";
import { type Parts, returnPathsOf, templatesOf } from "./parts.ts";
import { sealsForRoutes } from "./seals-role.ts";
import { senderExaminer } from "./sender-examiner.ts";
import { webhooksForRoutes } from "./webhooks-role.ts";

/** Throws CannotStart if the address of the API requires a key and no key exists. */
function openAccess({ config, logger }: Parts, ring: KeyRing): Access {
  const { auth: mode, host, rateLimit, mailFrom } = config;
  const obstacle = whyNotToStart(mode, host, ring);
  if (obstacle !== null) throw new CannotStart(obstacle);
  const warning = noKeyYet(mode, ring);
  if (warning !== null) logger.warn(warning);
  return createAccess(ring, { mode, host, rateLimit, mailFrom });
}

/** Serves health and metrics without a key, on the operators' network. A process of any role can have it. */
export function startOperatorsApi(
  { config, lifecycle }: Parts,
  monitoring: Monitoring,
  { url, serve, close }: Listening,
): string {
  serve(createOperatorsApi(monitoring));
  lifecycle.started("the operators' API", () => close(graceMsOf(config)));
  return url;
}

/** The HTTP listeners of a process; null for one that the settings do not ask for. */
export type Listeners = { readonly api: Listening | null; readonly health: Listening | null };

/** Opens them before anything else, so that a process that waits for its servers can report it and does not look hung. */
export async function openListeners(
  { roles, host, port, healthPort }: CompleteConfig,
  logger: Logger,
  lifecycle: Lifecycle,
  probes: readonly Probe[],
): Promise<Listeners> {
  const open = async (part: string, portOf: number | null): Promise<Listening | null> => {
    if (portOf === null) return null;
    const setting = part === "api" ? "PORT" : "HEALTH_PORT";
    const listener = await listen(createWaitingApi({ probes, logger }), host, portOf).catch((failure) => {
      throw failure.code === "EADDRINUSE" ? new CannotStart(portTaken(host, portOf, setting)) : failure;
    });
    lifecycle.started(`the listener of ${part}`, listener.close);
    logger.info({ part, url: listener.url }, "listening");
    return listener;
  };
  return { health: await open("health", healthPort), api: await open("api", roles.has("api") ? port : null) };
}

const portTaken = (host: string, port: number, setting: string): string =>
  `Port ${port} of ${host} is in use by another program. End it first, or set ${setting} to another port`;

async function systemForRoutes(
  { config, connection, patiently }: Parts,
  { logGauge }: Monitoring,
): Promise<RouteDependencies["system"]> {
  const { natsPrefix: prefix, streamReplicas: replicas } = config;
  const store = await patiently(() => createJetStreamAccessStore(connection, { prefix, replicas }));
  return {
    streams: await createJetStreamStreamSizes(connection, prefix),
    consumers: logGauge.consumers,
    workers: createJetStreamMembership(connection, prefix).call,
    keys: store.listKeys,
    throttles: createThrottleView(createJetStreamThrottleStore(connection, { prefix, replicas })),
  };
}

/** Accepts jobs and answers queries about them. Returns the URL of the API. */
export async function startApi(
  parts: Parts,
  monitoring: Monitoring,
  book: RouteBook,
  keys: SharedKeys,
  { url, serve, close }: Listening,
): Promise<string> {
  const { config, logger, connection, log, room, contentStore, db, reads, announcements, mailbox, lifecycle } = parts;
  const access = openAccess(parts, await keys());
  const live = createLive({
    log,
    followed: parts.followed,
    contentStore,
    stretches: createTenantStretches(reads),
    report: (failure) => logger.error({ err: failure }, "live stream failed"),
  });
  const dashboard = await readDashboard({ hasMailbox: mailbox !== null, eventTypes: typesOfJobs });
  if (dashboard === null) logger.warn("There is no dashboard: it was not built. Build it: npm run build");
  const bodies = createBodyBudget(config.bodiesMaxBytes);
  parts.observer.metrics.requests.watch({ streams: live.streams.count, bodies });
  const app = createApi({
    access,
    bodies,
    log,
    room,
    quota: createJetStreamQuota(connection, { prefix: config.natsPrefix, replicas: config.streamReplicas }),
    contentStore,
    live,
    results: parts.results,
    outbox: createMysqlOutboxRequests(db),
    storedThings: createJetStreamStoredThings(connection, config.natsPrefix),
    jobs: createJobQueries(reads, parts.searches),
    mailings: createMailingQueries(reads),
    schedules: createScheduleQueries(reads),
    mailRates: createMailRateQueries(reads),
    waiting: createWaitingQueries(reads),
    logs: createLogQueries(reads),
    recipients: createRecipientQueries(reads),
    exportedRecipients: createRecipientQueries(parts.searches),
    deadLetters: createDeadLetterQueries(reads),
    notifications: createNotificationQueries(reads),
    webhooks: await webhooksForRoutes(parts),
    seals: await sealsForRoutes(parts),
    readModels: createReadModels(db, allProjectors),
    system: await systemForRoutes(parts, monitoring),
    readPosition: createReadPositions(reads, announcements),
    mail: {
      mailFrom: config.mailFrom,
      dkim: config.dkim,
      publicUrl: config.publicUrl,
      returnPaths: await returnPathsOf(parts),
    },
    mailRoutes: { book, store: await openRouteStore(parts) },
    routesFor: routesForOf(book, config),
    providers: providersOf(config.mailProviders),
    reports: await reportsOf(parts),
    suppressions: createSuppressionList(parts.suppressions),
    templates: await templatesOf(parts),
    examineSender: senderExaminer(mailbox === null ? config : { ...config, smtpUrl: null }),
    maxAttempts: config.maxAttempts,
    approvalAbove: config.approvalAbove,
    now: () => new Date().toISOString(),
    ...monitoring,
    served: parts.observer.metrics.served,
    mailbox,
    dashboard,
    apiReference: await openApiReference(),
    natsPrefix: config.natsPrefix,
  });
  serve(app);
  lifecycle.started("the API", () => close(graceMsOf(config)));
  // The streams stop before the API: responses that stay open would delay its stop.
  lifecycle.started("the streams", async () => live.close());
  return url;
}
