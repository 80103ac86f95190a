import type { Cause } from "../event-log/event-log.ts";
import { createJetStreamUnattributed } from "../feedback/jetstream-unattributed.ts";
import type { RawReport } from "../feedback/raw-report.ts";
import { readMessage } from "../feedback/reports/read-message.ts";
import type { Reading } from "../feedback/reports/report.ts";
import { startReportListener } from "../feedback/smtp-report-listener.ts";
import { createTakeReport, type TakeReport } from "../feedback/take-report.ts";
import type { UnattributedReports } from "../feedback/unattributed.ts";
import { createIsOurs } from "../mail/return-path.ts";
import { CannotStart } from "../process/lifecycle.ts";
import { createOutageReport } from "../process/logger.ts";
import { feedbackIntakeOf } from "./feedback-role.ts";
import { mailTokensOf, type Parts } from "./parts.ts";

const byMail: Cause = { actor: "bounces", correlationId: null, causationId: null, traceparent: null };

export type ReportsOfService = { readonly take: TakeReport; readonly unattributed: UnattributedReports };

/** For every way in which reports arrive. */
export async function reportsOf(parts: Parts): Promise<ReportsOfService> {
  const { config, connection, patiently } = parts;
  const bucket = { prefix: config.natsPrefix, replicas: config.streamReplicas };
  const unattributed = await patiently(() => createJetStreamUnattributed(connection, bucket));
  const now = () => new Date().toISOString();
  const takeReport = createTakeReport({ intake: await feedbackIntakeOf(parts), unattributed, now });
  const take: TakeReport = async (reading, received) => {
    const taken = await takeReport(reading, received);
    parts.observer.metrics.reportTaken(taken.result);
    return taken;
  };
  return { take, unattributed };
}

/** A report that came to the return paths of several mails is about each of them. */
function takeForEach(take: TakeReport, reading: Reading, raw: RawReport, envelopeTo: readonly string[]) {
  const received = { raw, tenant: null, cause: byMail };
  return Promise.all(envelopeTo.map((address) => take(withName(reading, address), received)));
}

const withName = (reading: Reading, name: string): Reading =>
  reading.kind === "nothing"
    ? reading
    : { kind: "report", report: { ...reading.report, names: [name, ...reading.report.names] } };

/** Takes the mails that come to return paths, where BOUNCES_PORT is set. */
export async function startBounces(parts: Parts): Promise<void> {
  const { config, logger, lifecycle } = parts;
  const { bounces, mailReturnPath: returnPath } = config;
  if (bounces.port === null) return;
  if (returnPath === null) {
    throw new CannotStart("BOUNCES_PORT is set, but not MAIL_RETURN_PATH, the address whose mails come to that port.");
  }
  const { take } = await reportsOf(parts);
  const listener = await startReportListener(
    { host: bounces.host, port: bounces.port, isLmtp: bounces.isLmtp },
    createIsOurs(await mailTokensOf(parts), returnPath, config.feedbackAddresses),
    async (raw, envelopeTo) => {
      const taken = await takeForEach(take, await readMessage(raw.head, []), raw, envelopeTo);
      logger.debug({ results: taken.map(({ result }) => result), bytes: raw.bytes }, "a mail came to a return path");
    },
    createOutageReport(logger, { part: "bounces" }).failed,
  );
  logger.info({ host: bounces.host, port: listener.port, lmtp: bounces.isLmtp }, "listening for bounces");
  lifecycle.started("the listener for bounces", listener.stop);
}
