import { createLimits } from "../access/caller-limits.ts";
import { createJetStreamQuota } from "../access/jetstream-quota.ts";
import { traceIdOf } from "../event-log/traceparent.ts";
import type { RouteBook } from "../mail/routes/route-book.ts";
import { createMysqlEndedRows, createMysqlOutbox } from "../outbox/mysql-outbox.ts";
import { createRelay } from "../outbox/relay.ts";
import { traceparentOfRow } from "../outbox/relay-row.ts";
import { createRowRetention } from "../outbox/row-retention.ts";
import { createOutageReport, toLoggable } from "../process/logger.ts";
import { refreshRulesOf, type SharedKeys } from "./keys.ts";
import { routesForOf } from "./mail-routes-role.ts";
import { type Parts, templatesOf } from "./parts.ts";

const dayMs = 86_400_000;
const removeEveryMs = 60_000;

/** Creates jobs from the rows that applications write into the table `outbox`. */
export async function startOutbox(parts: Parts, book: RouteBook, keys: SharedKeys): Promise<void> {
  const { config, logger, connection, log, room, contentStore, db, lifecycle } = parts;
  const settings = { prefix: config.natsPrefix, replicas: config.streamReplicas };
  const ring = await keys();
  const relay = createRelay(
    {
      outbox: createMysqlOutbox(db),
      log,
      room,
      quota: createJetStreamQuota(connection, settings),
      contentStore,
      templates: await templatesOf(parts),
      // The tenants' rules alone: the right to write into the table is what admits an application.
      limitsOf: createLimits(ring, { mode: config.auth, host: config.host, mailFrom: config.mailFrom }),
      refreshRules: refreshRulesOf(ring, book),
      allowed: config.webhooks.allowed,
      routesFor: routesForOf(book, config),
      publicUrl: config.publicUrl,
      attemptsOfJob: config.maxAttempts,
      now: () => new Date().toISOString(),
    },
    {
      waits: createOutageReport(logger, { part: "outbox" }).failed,
      rowBroke: (failure, row) =>
        logger.error(
          { row, traceId: traceIdOf(traceparentOfRow(row)), err: toLoggable(failure) },
          "outbox row failed; retrying",
        ),
    },
  );
  relay.start();
  lifecycle.started("the outbox", relay.stop);
  startRowRetention(parts);
}

/** Rows contain addresses too, which must not be kept longer there than elsewhere. */
function startRowRetention({ config: { retentionDays }, logger, db, lifecycle }: Parts): void {
  if (retentionDays === null) return;
  const retention = createRowRetention(
    createMysqlEndedRows(db),
    { keptMs: retentionDays * dayMs, everyMs: removeEveryMs },
    {
      removed: (rows) => logger.info({ rows, retentionDays }, "expired outbox rows removed"),
      failed: createOutageReport(logger, { part: "retention of the outbox" }).failed,
    },
  );
  retention.start();
  lifecycle.started("the retention of the outbox", retention.stop);
}
