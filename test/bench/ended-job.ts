import { encodeContent } from "../../src/content/encode-content.ts";
import type { JobRef, NewEntry, NewEvent } from "../../src/event-log/event-log.ts";
import * as example from "../support/examples.ts";
import { body, recipients, subject } from "./the-mail.ts";

/** As many as a worker with ten connections claims at a time. */
const recipientsPerClaim = 10;

/** The content of a mailing to so many, which stays as long as no retention is set. */
export const contentOf = (total: number): Uint8Array =>
  encodeContent({
    name: null,
    metadata: {},
    subject,
    html: null,
    text: body,
    from: null,
    replyTo: null,
    headers: {},
    recipients: recipients(total).map((email) => ({ email })),
  });

/** What a mailing leaves in the log that reached everybody at the first attempt, in the order of the log. */
export function* historyOfEndedJob(job: JobRef, total: number, contentSha256: string): Iterable<NewEntry> {
  const at = new Date().toISOString();
  const caused = (what: string, event: NewEvent["event"]): NewEvent => example.caused(`${job.jobId}/${what}`, event);
  const claim = (first: number): NewEvent =>
    caused(`1/1/claim/${first}`, example.recipientsClaimed({ recipients: claimedFrom(first, total) }, at));
  const sent = (recipient: number): NewEvent => {
    const messageId = `<${recipient}.${job.jobId}@example.org>`;
    return caused(`1/1/${recipient}/RecipientSent`, example.recipientSent({ recipient, messageId }, at));
  };
  yield [caused("created", example.jobCreated({ total, contentSha256 }, at))];
  yield [caused("1/1/started", example.jobStarted({}, at)), claim(0)];
  for (let first = 0; first < total; first += recipientsPerClaim) {
    const next = first + recipientsPerClaim;
    const counts = example.counts({ total, sent: total });
    const then = next < total ? claim(next) : caused("1/1/completed", example.jobCompleted({ counts }, at));
    const others = claimedFrom(first, total).slice(1);
    yield [sent(first), ...others.map(sent), then];
  }
}

const claimedFrom = (first: number, total: number): readonly number[] =>
  Array.from({ length: Math.min(recipientsPerClaim, total - first) }, (_, index) => first + index);
