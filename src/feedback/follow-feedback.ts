import type { ContentStore } from "../content/content-store.ts";
import { decodeContent } from "../content/encode-content.ts";
import type { Instant } from "../domain/message.ts";
import type { SuppressionReason } from "../domain/recipients/events.ts";
import { isReturn, type ReturnEvent } from "../domain/recipients/feedback.ts";
import type { Cause, JobRef, StoredEvent } from "../event-log/event-log.ts";
import type { Listener } from "../event-log/following/listener.ts";
import { Archived } from "../event-log/log-failures.ts";
import type { AddressKey, SuppressionStore } from "../suppressions/suppression-store.ts";
import { createKeyed, type Keyed } from "../suppressions/unsubscribe-links.ts";
import { type MailRef, type NewFeedback, type Recorded, type RecordPorts, recordFeedback } from "./record-feedback.ts";
import type { SoftBounceStore } from "./soft-bounces.ts";

export type FeedbackPorts = {
  readonly contentStore: Pick<ContentStore, "get">;
  readonly suppressions: SuppressionStore;
  readonly softBounces: SoftBounceStore;
  /** So many soft bounces of an address, within the time that the store keeps them, put it on the list. */
  readonly softBounceLimit: number;
};

type Suppressing = Pick<FeedbackPorts, "contentStore" | "suppressions">;

const atOnce = 50;
const tryAgainMs = 1000;

/**
 * Puts addresses on the suppression list of their tenant: of a hard bounce, of a complaint, of a soft bounce too many,
 * and of an unsubscription, which is usually there already.
 * An address that was erased meanwhile is not known any more, and stays unknown.
 */
export function createFeedbackListener(ports: FeedbackPorts): Listener {
  const keyed = createKeyed(ports.suppressions);
  const begun: Begun = new Map();
  return {
    name: "feedback",
    beginAfter: () => 0,
    atOnce,
    tryAgainMs,
    act: (stored) => (isReturn(stored.event) ? follow(ports, keyed, begun, stored as StoredEvent<ReturnEvent>) : null),
  };
}

/**
 * Whose address an event may have stored, by its id, until it is known that it did: where the answer was lost and the content
 * is erased by the next try, nothing else says so.
 */
type Begun = Map<string, AddressKey>;

async function follow(
  ports: FeedbackPorts,
  keyed: () => Promise<Keyed>,
  begun: Begun,
  stored: StoredEvent<ReturnEvent>,
): Promise<void> {
  const { tenant, jobId, event } = stored;
  const job: JobRef = { tenant, jobId };
  const { recipient } = event.data;
  const email = await emailOf(ports, job, recipient);
  if (email === null) {
    const key = begun.get(stored.id);
    if (key !== undefined) await ports.suppressions.forget(key, jobId);
    begun.delete(stored.id);
    return;
  }
  const { digest } = await keyed();
  const key: AddressKey = { tenant, digest: digest(tenant, email) };
  const reason = await reasonOf(ports, key, stored);
  if (reason === null) return;
  begun.set(stored.id, key);
  await suppress(ports, { ...job, recipient }, key, { email, reason, createdAt: event.at, event: stored.id });
  begun.delete(stored.id);
}

/** If the content is erased in between, the report must not bring the address back. */
async function suppress(
  ports: Suppressing,
  { recipient, ...job }: MailRef,
  key: AddressKey,
  entry: Parameters<SuppressionStore["put"]>[1],
): Promise<void> {
  await ports.suppressions.put(key, entry, job.jobId);
  if ((await emailOf(ports, job, recipient)) === null) await ports.suppressions.forget(key, job.jobId);
}

/**
 * Records a report. Where its job is in a file of the archive that is not at hand, the log answers the same until an operator
 * has put the file there: the address of a complaint, or of a hard bounce, is suppressed without an event then. Throws
 * Unavailable, and Archived for any other report.
 */
export async function recordOrSuppress(
  ports: RecordPorts & Suppressing,
  mail: MailRef,
  feedback: NewFeedback,
  cause: Cause,
  at: Instant,
): Promise<Recorded> {
  try {
    return await recordFeedback(ports, mail, feedback, cause, at);
  } catch (failure) {
    if (failure instanceof Archived && (await suppressUnrecorded(ports, mail, feedback, at))) return "recorded";
    throw failure;
  }
}

/**
 * Suppresses the address for a complaint or a hard bounce that no event says. False where the report is none of them, or the
 * address is not known any more.
 */
async function suppressUnrecorded(
  ports: Suppressing,
  mail: MailRef,
  { type, data }: NewFeedback,
  at: Instant,
): Promise<boolean> {
  const { recipient, ...job } = mail;
  const reason = type === "RecipientComplained" ? "complaint" : data.bounce === "hard" ? "hard-bounce" : null;
  const email = reason === null ? null : await emailOf(ports, job, recipient);
  if (reason === null || email === null) return false;
  const { digest } = await createKeyed(ports.suppressions)();
  const key: AddressKey = { tenant: job.tenant, digest: digest(job.tenant, email) };
  await suppress(ports, mail, key, { email, reason, createdAt: at });
  return true;
}

async function reasonOf(
  { softBounces, softBounceLimit }: FeedbackPorts,
  key: AddressKey,
  { id, event }: StoredEvent<ReturnEvent>,
): Promise<SuppressionReason | null> {
  if (event.type === "RecipientComplained") return "complaint";
  if (event.type === "RecipientUnsubscribed") return "unsubscribe";
  if (event.data.bounce === "hard") return "hard-bounce";
  if (event.data.bounce !== "soft") return null;
  return (await softBounces.note(key, { id, at: event.at })) >= softBounceLimit ? "soft-bounces" : null;
}

async function emailOf(
  { contentStore }: Pick<FeedbackPorts, "contentStore">,
  job: JobRef,
  recipient: number,
): Promise<string | null> {
  const stored = await contentStore.get(job);
  return stored === null ? null : (decodeContent(stored).recipients[recipient]?.email ?? null);
}
