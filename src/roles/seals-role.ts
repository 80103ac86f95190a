import { createSealMemory } from "../../projections/seal-memory.ts";
import { withArchivedMessages } from "../archive/archived-messages.ts";
import { defaultTenant } from "../domain/tenant.ts";
import { streamName } from "../event-log/subjects.ts";
import type { Condition } from "../health/probe.ts";
import type { RouteDependencies } from "../http/routes/route-dependencies.ts";
import { createSmtpMailer } from "../mail/smtp-mailer.ts";
import { createOutageReport } from "../process/logger.ts";
import { bucketOfSeals, createJetStreamSealStore } from "../seals/jetstream-seal-store.ts";
import { createJetStreamSealedLog } from "../seals/jetstream-sealed-log.ts";
import { createSealPublisher, type SealDestination } from "../seals/publish-seals.ts";
import { runSealer } from "../seals/run-sealer.ts";
import { createSealMail, createSealWebhook } from "../seals/seal-destinations.ts";
import { createSealFile } from "../seals/seal-file.ts";
import type { SealKey } from "../seals/seal-key.ts";
import type { SealObserver } from "../seals/seal-observer.ts";
import type { SealStore } from "../seals/seal-store.ts";
import type { SealedLog } from "../seals/sealed-log.ts";
import { createSealer, type Sealer } from "../seals/sealer.ts";
import type { CompleteConfig } from "../settings/config.ts";
import { createSafePost } from "../signed-post/http-safe-post.ts";
import { bucketOfWebhooks, createJetStreamWebhookStore } from "../webhooks/jetstream-webhook-store.ts";
import { createTenantSecrets } from "../webhooks/tenant-secrets.ts";
import type { Parts } from "./parts.ts";
import { orCannotStart, sealingOf } from "./sealing.ts";

type SealParts = Pick<Parts, "archive" | "config" | "logger" | "connection" | "log" | "db" | "lifecycle" | "patiently">;

type Opened = {
  readonly store: SealStore;
  readonly key: SealKey;
  readonly sealedLog: SealedLog;
  readonly sealer: Sealer;
};

async function openSeals(parts: SealParts, more: readonly SealObserver[] = []): Promise<Opened> {
  const { config, logger, connection, log, db, patiently } = parts;
  const { natsPrefix: prefix, streamReplicas: replicas, seals } = config;
  const sealing = sealingOf(config, bucketOfSeals);
  const store = await patiently(() => createJetStreamSealStore(connection, { prefix, replicas }, sealing));
  const key = seals.key ?? (await orCannotStart(() => patiently(store.key)));
  // A destination, or a place that remembers a seal, can be behind what was cut off.
  const sealedLog = withArchivedMessages(await createJetStreamSealedLog(connection, prefix), parts.archive);
  const sealer = createSealer({
    log,
    sealedLog,
    key,
    observers: [createSealMemory(db, streamName(prefix, "JOBS")), ...more],
    everyEvents: seals.everyEvents,
    everyMs: seals.everyMs,
    now: () => new Date().toISOString(),
    report: createOutageReport(logger, { part: "seals remembered" }).failed,
  });
  return { store, key, sealedLog, sealer };
}

/** Seals the log as it grows, and publishes the seals. Returns a function that reports its condition. */
export async function startSealer(parts: SealParts): Promise<() => Condition> {
  const { config, logger, lifecycle } = parts;
  const file = config.seals.file === null ? null : createSealFile(config.seals.file);
  const opened = await openSeals(parts, file === null ? [] : [file]);
  const running = runSealer(opened.sealer, {
    away: createOutageReport(logger, { part: "sealer" }).failed,
    rolledBack: (failure) => logger.error({ part: "sealer", error: failure.message }, "log was rolled back"),
  });
  const reports = new Map<string, (failure: unknown) => void>();
  const publisher = createSealPublisher(
    opened.sealedLog,
    [...(file === null ? [] : [file]), ...(await openDestinations(parts, opened.store))],
    (failure, destination) => {
      const report = reports.get(destination) ?? createOutageReport(logger, { part: `seals to ${destination}` }).failed;
      reports.set(destination, report);
      report(failure);
    },
  );
  publisher.start();
  lifecycle.started("the sealer", async () => {
    await Promise.all([running.stop(), publisher.stop()]);
  });
  return () => {
    const { status, reason } = running.condition();
    return { status, keyId: opened.key.keyId, ...(reason === null ? {} : { reason }) };
  };
}

async function openDestinations(parts: SealParts, store: SealStore): Promise<readonly SealDestination[]> {
  const { config, connection, lifecycle, patiently } = parts;
  const { seals, webhooks, natsPrefix: prefix, streamReplicas: replicas } = config;
  const destinations: SealDestination[] = [];
  if (seals.webhookUrl !== null) {
    const secrets = createTenantSecrets(
      await patiently(() =>
        createJetStreamWebhookStore(connection, { prefix, replicas }, sealingOf(config, bucketOfWebhooks)),
      ),
      webhooks.secret,
    );
    const post = createSafePost({ allowed: webhooks.allowed });
    destinations.push(
      createSealWebhook({ url: seals.webhookUrl, post, secrets: () => secrets.of(defaultTenant), store }),
    );
  }
  if (seals.mailTo !== null) {
    const mailer = createSmtpMailer(smtpSettings(config));
    lifecycle.started("the mailer of seals", mailer.close);
    destinations.push(createSealMail({ to: seals.mailTo, from: config.mailFrom, mailer, store }));
  }
  return destinations;
}

const smtpSettings = ({ smtpUrl, smtp, dkim }: CompleteConfig) => ({
  url: smtpUrl,
  maxConnections: 1,
  ...smtp,
  dkim,
});

/** What the routes about seals and evidence need. */
export async function sealsForRoutes(parts: SealParts): Promise<RouteDependencies["seals"]> {
  const { key, sealedLog, sealer } = await openSeals(parts);
  return { key, sealedLog, sealer };
}
