import { createReadPositions } from "../../projections/following/read-position.ts";
import { createJobFinder } from "../../projections/jobs/find-job.ts";
import { createSerially } from "../event-log/following/serially.ts";
import { createAttribution } from "../feedback/attribute.ts";
import { createFeedbackListener, recordOrSuppress } from "../feedback/follow-feedback.ts";
import type { FeedbackIntake } from "../feedback/intake.ts";
import { createJetStreamSoftBounces } from "../feedback/jetstream-soft-bounces.ts";
import { rememberFeedback } from "../feedback/remember-feedback.ts";
import { subjectOfMail } from "../job-kinds/email/show-mail.ts";
import { startListener } from "./listeners.ts";
import { mailTokensOf, type Parts } from "./parts.ts";

/** Suppresses addresses whose mails came back, or whose owners complained. */
export async function startFeedback(parts: Parts): Promise<void> {
  const { config, connection, contentStore, suppressions, patiently } = parts;
  const { limit: softBounceLimit, days } = config.softBounces;
  const bucket = { prefix: config.natsPrefix, replicas: config.streamReplicas };
  const softBounces = await patiently(() => createJetStreamSoftBounces(connection, bucket, days));
  startListener(parts, createFeedbackListener({ contentStore, suppressions, softBounces, softBounceLimit }));
}

/** For every way in which reports arrive. */
export async function feedbackIntakeOf(parts: Parts): Promise<FeedbackIntake> {
  const { log, contentStore, suppressions, reads, announcements } = parts;
  const tokens = await mailTokensOf(parts);
  const finder = createJobFinder(reads, createReadPositions(reads, announcements));
  // The reports about the mails of a job come together, and each append of one makes those of the others read the log again.
  const serially = createSerially();
  const ports = { log: rememberFeedback(log), contentStore, subjectTo: subjectOfMail, suppressions };
  return {
    attribute: createAttribution(tokens, finder, log),
    record: (mail, feedback, cause, at) => serially(mail, () => recordOrSuppress(ports, mail, feedback, cause, at)),
  };
}
