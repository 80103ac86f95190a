import {
  askerAfter,
  createNotification,
  type Notification,
  type NotificationRecord,
  readNotification,
  runAfter,
} from "../domain/notifications/notification.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";

/**
 * The notification for `asker` that a run of a job or a mailing has ended, from the log without any read model; null where
 * the run has not ended, or another key asked for the job, or started the mailing. `causeId` is the event that ended the run, `readSequence` the position at
 * which the log was read.
 */
export async function notificationFromLog(
  log: EventLog,
  job: JobRef,
  wanted: number,
  asker: string,
): Promise<{ notification: NotificationRecord; causeId: string; readSequence: number | null } | null> {
  const ofJob = await log.readDecisions(job);
  const decisions = ofJob.length > 0 ? ofJob : await log.readMailing(job);
  const asked = decisions.reduce<string | null>((one, { event, actor }) => askerAfter(one, event, actor), null);
  if (asked !== asker) return null;
  let found: { notification: Notification; causeId: string } | null = null;
  let run = 1;
  for (const { event, id } of decisions) {
    run = runAfter(run, event);
    const notification = run === wanted ? createNotification(event, run) : null;
    if (notification !== null) found ??= { notification, causeId: id };
  }
  if (found === null) return null;
  const reads = (await log.readNotices(job)).flatMap(({ event, sequence }) =>
    event.type === "NotificationRead" && event.data.run === wanted ? [{ event, sequence }] : [],
  );
  const notification = reads.reduce((before, { event }) => readNotification(before, event), found.notification);
  return {
    notification: { ...notification, jobId: job.jobId },
    causeId: found.causeId,
    readSequence: reads[0]?.sequence ?? null,
  };
}
