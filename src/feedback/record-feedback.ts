import type { ContentRecipient, ContentStore, JobContent } from "../content/content-store.ts";
import { decodeContent } from "../content/encode-content.ts";
import type { Instant } from "../domain/message.ts";
import { type FeedbackEvent, isNews, type ReturnEvent } from "../domain/recipients/feedback.ts";
import { Unavailable } from "../domain/unavailable.ts";
import { againOnConflict } from "../event-log/again-on-conflict.ts";
import type { Cause, EventLog, JobRef, NewEvent } from "../event-log/event-log.ts";
import { VersionConflict } from "../event-log/log-failures.ts";
import { maskReply } from "../mail/mask-reply.ts";

/** The mail to one recipient of a job. */
export type MailRef = JobRef & { readonly recipient: number };

/** `known`: the log has it already. `no-such-mail`: the job has no such recipient, or is no job. */
export type Recorded = "recorded" | "known" | "no-such-mail";

export type RecordPorts = {
  readonly log: EventLog;
  readonly contentStore: Pick<ContentStore, "get">;
  /** The subject of the mail to a recipient, filled in; null where it has none. */
  readonly subjectTo: (content: JobContent, recipient: ContentRecipient) => string | null;
};

type NewOf<Event extends FeedbackEvent> = {
  readonly type: Event["type"];
  readonly data: Omit<Event["data"], "recipient">;
};

/** What a report says, before it is recorded: addresses in a `diagnostic` are still to be masked. */
export type NewFeedback =
  | NewOf<Extract<FeedbackEvent, { type: "RecipientBounced" }>>
  | NewOf<Extract<FeedbackEvent, { type: "RecipientComplained" }>>;

/**
 * Records a report about a mail, once: however often it comes, and in how many processes at the same moment. Throws
 * Unavailable; the sender of the report then has to be told to try again.
 */
export async function recordFeedback(
  ports: RecordPorts,
  mail: MailRef,
  feedback: NewFeedback,
  cause: Cause,
  at: Instant,
): Promise<Recorded> {
  const { log } = ports;
  const { recipient, ...job } = mail;
  // What comes again is the usual case of what is forged, and of a sender that had no answer: it costs one question.
  const unmasked = { ...feedback, at, data: { ...feedback.data, recipient } } as FeedbackEvent;
  const earlier = await log.readFeedback(job);
  if (
    !isNews(
      unmasked,
      earlier.map(({ event }) => event),
    )
  )
    return "known";
  if (!(await isMail(log, mail))) return "no-such-mail";
  const event = await masked(ports, job, unmasked);
  return await appendNews(log, mail, { ...cause, id: idOf(mail, event), event }, (known) => isNews(event, known));
}

/** The id of the event, as which the suppression list names it. */
export const unsubscribedIdOf = ({ jobId, recipient }: MailRef): string => `${jobId}:${recipient}:unsubscribed`;

/** Records that a recipient asked for no more mails, once for each mail. Throws Unavailable and LogFull. */
export async function recordUnsubscribed(log: EventLog, mail: MailRef, cause: Cause, at: Instant): Promise<Recorded> {
  const { recipient } = mail;
  if (!(await isMail(log, mail))) return "no-such-mail";
  const recorded = {
    ...cause,
    id: unsubscribedIdOf(mail),
    event: { type: "RecipientUnsubscribed", at, data: { recipient } } as const,
  };
  return await appendNews(
    log,
    mail,
    recorded,
    (earlier) => !earlier.some(({ type, data }) => type === "RecipientUnsubscribed" && data.recipient === recipient),
  );
}

async function isMail(log: EventLog, { recipient, ...job }: MailRef): Promise<boolean> {
  const [created] = await log.readDecisions(job);
  return created?.event.type === "JobCreated" && recipient < created.event.data.total;
}

async function appendNews(
  log: EventLog,
  { recipient: _, ...job }: MailRef,
  recorded: NewEvent<ReturnEvent>,
  isNew: (earlier: readonly ReturnEvent[]) => boolean,
): Promise<"recorded" | "known"> {
  const read = async () => {
    const earlier = await log.readFeedback(job);
    return { earlier, sequence: earlier.at(-1)?.sequence ?? 0 };
  };
  const record = againOnConflict(read, async ({ earlier, sequence }) => {
    if (!isNew(earlier.map(({ event }) => event))) return "known";
    await log.append(job, [recorded], sequence);
    return "recorded";
  });
  return await record.catch((failure: unknown) => {
    if (!(failure instanceof VersionConflict)) throw failure;
    throw new Unavailable("What came back about this job last only a newer release can read.", { cause: failure });
  });
}

/** A recipient has each of them once. */
function idOf({ jobId, recipient }: MailRef, event: FeedbackEvent): string {
  const what = event.type === "RecipientComplained" ? "complained" : event.data.bounce === "hard" ? "hard" : "bounced";
  return `${jobId}:${recipient}:${what}`;
}

/** The log holds no address, nor words of the mail. Of an erased recipient it is not known what to mask: no word is kept. */
async function masked(
  { contentStore, subjectTo }: Pick<RecordPorts, "contentStore" | "subjectTo">,
  job: JobRef,
  event: FeedbackEvent,
): Promise<FeedbackEvent> {
  if (event.type === "RecipientComplained" || event.data.diagnostic === "") return event;
  const stored = await contentStore.get(job);
  const content = stored === null ? null : decodeContent(stored);
  const recipient = content?.recipients[event.data.recipient] ?? null;
  const { diagnostic } = event.data;
  const kept =
    content === null || recipient === null
      ? ""
      : maskReply(diagnostic, { to: recipient.email, subject: subjectTo(content, recipient) ?? "" });
  return { ...event, data: { ...event.data, diagnostic: kept } };
}
