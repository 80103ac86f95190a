import { createLimits } from "./access/caller-limits.ts";
import { createJetStreamKeyRing } from "./access/jetstream-key-ring.ts";
import { createJetStreamQuota } from "./access/jetstream-quota.ts";
import { toLoggable } from "./http/failure.ts";
import { createOutageReport } from "./outage-report.ts";
import { createMysqlOutbox } from "./outbox/mysql-outbox.ts";
import { createRelay } from "./outbox/relay.ts";
import type { Parts } from "./parts.ts";

/** Makes jobs of what applications have written into the table `outbox`. */
export async function startOutbox(parts: Parts): Promise<void> {
  const { config, logger, connection, log, room, contentStore, db, lifecycle } = parts;
  const settings = { prefix: config.natsPrefix, replicas: config.streamReplicas };
  // Of keys it needs the rules alone: whoever may write into the table needs none.
  const ring = await createJetStreamKeyRing(connection, settings, createOutageReport(logger, "keys"));
  lifecycle.started("the tenants' rules", ring.stop);
  const relay = createRelay(
    {
      outbox: createMysqlOutbox(db),
      log,
      room,
      quota: createJetStreamQuota(connection, settings),
      contentStore,
      limitsOf: createLimits(ring, { mode: config.auth, host: config.host, mailFrom: config.mailFrom }),
      allowed: config.webhooks.allowed,
      publicUrl: config.publicUrl,
      attemptsOfJob: config.maxAttempts,
      now: () => new Date().toISOString(),
    },
    {
      waits: createOutageReport(logger, "outbox"),
      rowBroke: (failure, row) => logger.error({ row, err: toLoggable(failure) }, "a row of the outbox broke"),
    },
  );
  relay.start();
  lifecycle.started("the outbox", relay.stop);
}
