import { createLimits } from "../access/caller-limits.ts";
import { createJetStreamQuota } from "../access/jetstream-quota.ts";
import { until } from "../event-log/following/look-again.ts";
import type { RouteBook } from "../mail/routes/route-book.ts";
import { createImporter } from "../mailings/import-recipients.ts";
import { createScheduleListener } from "../mailings/schedules/follow-schedules.ts";
import { createOutageReport } from "../process/logger.ts";
import { refreshRulesOf, type SharedKeys } from "./keys.ts";
import { startListener } from "./listeners.ts";
import { routesForOf } from "./mail-routes-role.ts";
import { type Parts, templatesOf } from "./parts.ts";

/** Makes jobs and mailings at the times of their schedules. */
export async function startSchedules(parts: Parts, book: RouteBook, keys: SharedKeys): Promise<void> {
  const { config, logger, connection, log, room, contentStore } = parts;
  const settings = { prefix: config.natsPrefix, replicas: config.streamReplicas };
  const report = createOutageReport(logger, { part: "schedules" }).failed;
  const now = () => new Date().toISOString();
  const ring = await keys();
  const listener = createScheduleListener({
    log,
    room,
    contentStore,
    quota: createJetStreamQuota(connection, settings),
    templates: await templatesOf(parts),
    importer: createImporter({ log, contentStore, room, now }),
    limitsOf: createLimits(ring, { mode: config.auth, host: config.host, mailFrom: config.mailFrom }),
    refreshRules: refreshRulesOf(ring, book),
    approvalAbove: config.approvalAbove,
    allowed: config.webhooks.allowed,
    routesFor: routesForOf(book, config),
    publicUrl: config.publicUrl,
    attemptsOfJob: config.maxAttempts,
    now,
    until,
    report,
  });
  startListener(parts, listener, report);
}
