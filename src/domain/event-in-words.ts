import { durationInWords } from "./figures-in-words.ts";
import type { RecipientCounts } from "./job/events.ts";
import type { EventOfJob } from "./job/job-view.ts";
import type { MailingEvent } from "./mailing/events.ts";
import type { ScheduleEvent } from "./schedule/events.ts";
import type { ThrottleEvent } from "./throttles/events.ts";

type Told = EventOfJob | MailingEvent | ScheduleEvent | ThrottleEvent;

type Sentences = { readonly [Type in Told["type"]]: (data: Extract<Told, { readonly type: Type }>["data"]) => string };

const many = (count: number, noun: string): string => `${count} ${count === 1 ? noun : `${noun}s`}`;

/** Recipients are numbered from 0 in the log, as in the API. */
const recipient = ({ recipient: number }: { readonly recipient: number }): string => `Recipient ${number}`;

const because = (reason: string | null): string => (reason === null ? "." : `: ${reason}`);

/** To the second. */
const at = (instant: string | null): string =>
  instant === null ? "at once" : `at ${instant.slice(0, 19).replace("T", " ")} UTC`;

function counted({ total, sent, ...others }: RecipientCounts): string {
  const rest = Object.entries(others).filter(([, count]) => count > 0);
  return [`${sent} of ${many(total, "recipient")} sent`, ...rest.map(([name, count]) => `${count} ${name}`)].join(", ");
}

const sentences: Sentences = {
  JobCreated: ({ total, scheduledAt }) =>
    `The job was accepted with ${many(total, "recipient")}${scheduledAt === null ? "" : `, to begin ${at(scheduledAt)}`}.`,
  JobStarted: ({ attempt, worker }) => `The worker ${worker} began attempt ${attempt}.`,
  JobReleased: ({ worker }) => `The worker ${worker} gave the job back.`,
  JobRetryScheduled: ({ nextAttemptAt, error }) => `The next attempt is ${at(nextAttemptAt)}: ${error.message}`,
  JobPaused: ({ reason }) => `The job was paused${because(reason)}`,
  JobResumed: ({ reason }) => `The job goes on${because(reason)}`,
  JobRescheduled: ({ scheduledAt, priority, reason }) =>
    `The job is to begin ${at(scheduledAt)}, with ${priority} priority${because(reason)}`,
  JobCompleted: ({ counts }) => `The job ended: ${counted(counts)}.`,
  JobFailed: ({ error, counts }) =>
    `The job failed: ${error.message}${counts === null ? "" : ` In the end: ${counted(counts)}.`}`,
  JobCancelled: ({ reason }) => `The job was cancelled${because(reason)}`,
  JobRetried: ({ run, scope, reason }) => `Run ${run} tries the recipients again that are ${scope}${because(reason)}`,
  JobRequeued: ({ asJobId, reason }) => `The job ${asJobId} mails the recipients that were not sent${because(reason)}`,
  DeadLetterIgnored: ({ run, reason }) => `The failure of run ${run} was set aside: ${reason}`,
  JobContentErased: ({ recipients, reason }) =>
    `${recipients === null ? "The content and all addresses were" : `The data of ${many(recipients.length, "recipient")} was`} erased${because(reason)}`,
  RecipientsClaimed: ({ worker, recipients }) =>
    `The worker ${worker} is about to mail ${many(recipients.length, "recipient")}.`,
  RecipientsReleased: ({ recipients }) => `${many(recipients.length, "recipient")} certainly got no mail this time.`,
  RecipientSent: (data) => `${recipient(data)}: the mail server took the mail. ${data.response}`,
  RecipientDeferred: (data) => `${recipient(data)} is tried again: ${data.error.message}`,
  RecipientFailed: (data) => `${recipient(data)} failed: ${data.error.message}`,
  RecipientUnknown: (data) => `${recipient(data)}: nobody can know whether the mail was taken. ${data.error.message}`,
  RecipientSuppressed: (data) => `${recipient(data)} was not mailed: the address is suppressed (${data.reason}).`,
  RecipientBounced: (data) =>
    `${recipient(data)}: the mail came back (${data.bounce}). ${data.diagnostic || data.statusCode || ""}`.trimEnd(),
  RecipientComplained: (data) => `${recipient(data)} complained about the mail (${data.complaint}).`,
  RecipientUnsubscribed: (data) => `${recipient(data)} asked for no more mails.`,
  ResultStored: ({ rows, sha256 }) =>
    `${many(rows, "row")} of the report ${rows === 1 ? "is" : "are"} stored${sha256 === null ? " so far" : ", and it is complete"}.`,
  WebhookDelivered: ({ type, statusCode }) => `The receiver took the webhook ${type} with ${statusCode}.`,
  WebhookFailed: ({ type, error, nextAttemptAt }) =>
    `The webhook ${type} failed: ${error.message} ${nextAttemptAt === null ? "It is not tried again." : `The next attempt is ${at(nextAttemptAt)}.`}`,
  WebhookRedeliveryRequested: ({ type }) => `The webhook ${type} is to be delivered once more.`,
  NotificationRead: () => "The notification that the job ended was read.",
  MailingCreated: () => "The draft of the mailing was created.",
  MailingPartsAdded: ({ parts }) =>
    `${many(
      parts.reduce((sum, part) => sum + part.recipients, 0),
      "recipient",
    )} joined, in ${many(parts.length, "part")}.`,
  MailingPartAbandoned: () => "A part of an import was left out, which was never added.",
  MailingStarted: ({ parts, recipients, scheduledAt }) =>
    `The mailing was started: ${many(recipients, "recipient")} in ${many(parts, "part")}, ${at(scheduledAt)}.`,
  MailingTested: ({ recipients }) => `The letter was sent to ${recipients} of one's own addresses, to try it.`,
  MailingApprovalRequested: ({ recipients, requestedBy }) =>
    `${requestedBy} asked to start the mailing to ${many(recipients, "recipient")}; someone else has to approve it.`,
  MailingApproved: ({ approvedBy }) => `${approvedBy} approved the mailing.`,
  MailingRejected: ({ rejectedBy, reason }) => `${rejectedBy} rejected the mailing: ${reason}`,
  MailingUndone: ({ reason }) => `The start was taken back before any mail was sent${because(reason)}`,
  MailingReleased: () => "The start can no longer be taken back.",
  MailingPaused: ({ reason, stoppedBy }) =>
    `The mailing ${stoppedBy === undefined ? "was paused" : "stopped by itself"}${because(reason)}`,
  MailingResumed: ({ reason }) => `The mailing goes on${because(reason)}`,
  MailingCancelled: ({ reason }) => `The mailing was cancelled${because(reason)}`,
  MailingPartsEnded: ({ parts }) => `${many(parts.length, "part")} ended.`,
  MailingReportsCounted: ({ sent, bounced, complained }) =>
    `Of ${many(sent, "sent mail")} so far ${bounced} bounced and ${complained} complained.`,
  MailingCompleted: ({ result, counts }) => `The mailing ended as ${result}: ${counted(counts)}.`,
  MailingRetried: ({ parts, scope, reason }) =>
    `${many(parts.length, "part")} tried again, for the recipients that are ${scope}${because(reason)}`,
  MailingContentErased: ({ reason }) => `The letter was erased${because(reason)}`,
  ScheduleCreated: ({ schedule }) => `The schedule was created: "${schedule.cron}" in ${schedule.timeZone}.`,
  ScheduleChanged: ({ schedule }) => `The schedule was changed: "${schedule.cron}" in ${schedule.timeZone}.`,
  SchedulePaused: ({ reason }) => `The schedule was paused${because(reason)}`,
  ScheduleResumed: ({ reason }) => `The schedule goes on${because(reason)}`,
  ScheduleDeleted: ({ reason }) => `The schedule was deleted${because(reason)}`,
  ScheduleRecipientsErased: ({ recipients, reason }) =>
    `Addresses were erased from the schedule; ${many(recipients, "recipient")} left${because(reason)}`,
  ScheduleFired: ({ dueAt, schedule, madeId }) =>
    `It came due ${at(dueAt)}, and makes the ${schedule.makes} ${madeId}.`,
  ScheduleQueued: ({ dueAt }) => `It came due ${at(dueAt)}, and waits for the end of what was made before.`,
  ScheduleSkipped: ({ count, reason }) => `${many(count, "time")} passed without effect (${reason}).`,
  ScheduleFailed: ({ dueAt, code }) => `It came due ${at(dueAt)}, and what it would have made was refused (${code}).`,
  ReceiverThrottled: ({ receiver, route, perMinute, reason }) =>
    `${receiver} asked for patience on the route ${route}, and gets ${many(perMinute, "mail")} a minute: ${reason.message}`,
  ReceiverReleased: ({ receiver, route, throttledForSeconds }) =>
    `${receiver} takes mails of the route ${route} as fast as before, after ${durationInWords(throttledForSeconds)}.`,
};

/** A sentence for people about an event; null for a type that this release has no words for. */
export function eventInWords(event: { readonly type: string; readonly data: unknown }): string | null {
  if (!Object.hasOwn(sentences, event.type)) return null;
  const tell = sentences[event.type as Told["type"]] as (data: unknown) => string;
  return tell(event.data);
}
