import type { Logger } from "pino";
import { createDeadLetterQueries } from "../../projections/dead-letters/queries.ts";
import { createMailingQueries } from "../../projections/jobs/mailings/queries.ts";
import { createMailRateQueries } from "../../projections/mail-rates/queries.ts";
import { type AlertOutcome, type AlertReceiver, createAlertSender, type OnAttempt } from "../alerts/alert-sender.ts";
import { createAlertWatch } from "../alerts/alert-watch.ts";
import { createMailReceiver } from "../alerts/mail-receiver.ts";
import { createFigures } from "../alerts/read-figures.ts";
import { createWebhookReceiver } from "../alerts/webhook-receiver.ts";
import type { AlertEvent } from "../domain/alerts/events.ts";
import { alertInWords } from "../domain/alerts/words.ts";
import { defaultTenant } from "../domain/tenant.ts";
import { withBreaker } from "../mail/breaker.ts";
import { createSmtpMailer } from "../mail/smtp-mailer.ts";
import { createOutageReport } from "../process/logger.ts";
import { createSafePost } from "../signed-post/http-safe-post.ts";
import { createTenantSecrets } from "../webhooks/tenant-secrets.ts";
import { startListener } from "./listeners.ts";
import type { Monitoring } from "./monitoring.ts";
import type { Parts } from "./parts.ts";
import { openWebhookStore } from "./webhooks-role.ts";

/** Looks at the service, records alerts, and notifies the operator. */
export async function startAlerts(parts: Parts, { stats, projectionLags }: Monitoring): Promise<void> {
  const { config, logger, log, db, observer, lifecycle } = parts;
  const { limits, lookEveryMs } = config.alerts;
  const metrics = observer.metrics.alerts();
  const report = createOutageReport(logger, { part: "alerts" }).failed;
  const watch = createAlertWatch(
    {
      log,
      figures: createFigures(
        {
          stats,
          mailRates: createMailRateQueries(db),
          projectionLags,
          deadLetters: createDeadLetterQueries(db),
          mailings: createMailingQueries(db),
        },
        limits,
        createOutageReport(logger, { part: "figures for alerts" }).failed,
      ),
      limits,
      lookEveryMs,
      decided: (event) => logDecision(logger, event),
      seen: metrics.seen,
    },
    report,
  );
  const onAttempt: OnAttempt = (receiver, outcome, entry, isLast) => {
    metrics.notified(receiver.kind, outcomeOf(outcome, isLast));
    if (outcome.kind !== "notified") logTrouble(logger, receiver, outcome, entry.event, isLast);
  };
  // It listens even without receivers, so that a receiver which is configured later gets only new alerts.
  const { lastSequence } = await parts.patiently(() => log.state());
  startListener(parts, createAlertSender(await receiversOf(parts), lastSequence, onAttempt, report), report);
  watch.start();
  lifecycle.started("the alerts", watch.stop);
}

async function receiversOf(parts: Parts): Promise<readonly AlertReceiver[]> {
  const { config, lifecycle } = parts;
  const { webhookUrl, mailTo } = config.alerts;
  const receivers: AlertReceiver[] = [];
  if (webhookUrl !== null) {
    const secrets = createTenantSecrets(await openWebhookStore(parts), config.webhooks.secret);
    const post = createSafePost({ allowed: config.webhooks.allowed });
    receivers.push(createWebhookReceiver(webhookUrl, () => secrets.of(defaultTenant), post));
  }
  if (mailTo.length > 0) {
    const mailer = withBreaker(
      createSmtpMailer({ url: config.smtpUrl, maxConnections: 1, ...config.smtp, dkim: config.dkim }),
    );
    lifecycle.started("the mailer of alerts", mailer.close);
    receivers.push(...mailTo.map((address) => createMailReceiver(mailer, config.mailFrom, address)));
  }
  return receivers;
}

const outcomeOf = (outcome: AlertOutcome, isLast: boolean): string => {
  if (outcome.kind === "notified") return "told";
  return isLast ? "given_up" : "later";
};

function logDecision(logger: Logger, event: AlertEvent): void {
  const { alert, value, threshold, about } = event.data;
  const line = { alert, value, threshold, about };
  if (event.type === "AlertRaised") logger.warn(line, `alert raised: ${alertInWords(event)}`);
  else logger.info(line, `alert cleared: ${alertInWords(event)}`);
}

function logTrouble(
  logger: Logger,
  { kind }: AlertReceiver,
  outcome: Exclude<AlertOutcome, { kind: "notified" }>,
  { type, data }: AlertEvent,
  isLast: boolean,
): void {
  const line = { receiver: kind, event: type, alert: data.alert, code: outcome.code };
  if (isLast) logger.error(line, "alert notification failed; giving up");
  else logger.warn(line, "alert notification failed; retrying");
}
