import { setTimeout as pause } from "node:timers/promises";
import type { ContentStore } from "../../content/content-store.ts";
import { countRecipients } from "../../domain/recipients/ledger.ts";
import type { Mailer } from "../../mail/mailer.ts";
import type { Pace } from "../../mail/pace.ts";
import type { SuppressionGuard } from "../../suppressions/suppression-guard.ts";
import { PartFault } from "../../templates/letters.ts";
import type { Bookkeeper } from "../../workers/bookkeeper.ts";
import { servedErased } from "../../workers/erased-recipient.ts";
import type { Lease } from "../../workers/lease.ts";
import { type Served, serveRecipients } from "../../workers/serve-recipients.ts";
import type { AttemptEnd, HeldTurn } from "../../workers/turn.ts";
import { composeMail, templateFailed } from "./compose-mail.ts";
import type { ConnectionShare } from "./connection-shares.ts";
import { loadMailing, type Mailing } from "./load-mailing.ts";

export type MailingDependencies = {
  readonly contentStore: ContentStore;
  readonly mailer: Mailer;
  readonly suppressions: SuppressionGuard;
  /** Where people outside reach the service; null where mails can have no links to it. */
  readonly publicUrl: string | null;
  /** Keeps to the rate that the mail server allows. */
  readonly pace: Pace;
  readonly mailFrom: string;
  /** Above 0 the mails of one job go one after the other, with this much time between two. */
  readonly batchDelayMs: number;
  /** Of the connections to the mail server, which jobs have in common. */
  readonly share: Pick<ConnectionShare, "window" | "using">;
  /** Aborts when the process is to stop: what is on its way ends, nothing new begins. */
  readonly stopping: AbortSignal;
};

/** One attempt of a mailing. */
export async function sendMailing(
  held: HeldTurn,
  lease: Lease,
  books: Bookkeeper,
  dependencies: MailingDependencies,
): Promise<AttemptEnd> {
  const { batchDelayMs, share, suppressions, pace, stopping } = dependencies;
  const [mailing, isStillHeld] = await Promise.all([loadMailing(held, dependencies), lease.confirm()]);
  if (!isStillHeld) return { kind: "lease-lost" };
  if ("code" in mailing) return { kind: "failed", counts: countRecipients(held.ledger), error: mailing };
  return await serveRecipients(held, lease, books, {
    window: () => (batchDelayMs > 0 ? 1 : share.window()),
    using: share.using,
    claimsAtOnce: batchDelayMs > 0 ? 1 : dependencies.mailer.connections,
    serve: (recipient) => send(held, mailing, recipient, dependencies),
    whyNot: async (recipient) => {
      const one = mailing.content.recipients[recipient];
      return one ? await suppressions.reasonFor(held.job.tenant, one.email) : null;
    },
    before: pace,
    after: async (hurry) => {
      if (batchDelayMs > 0) await pause(batchDelayMs, undefined, { signal: hurry }).catch(() => {});
    },
    stopping,
  });
}

async function send(
  held: HeldTurn,
  mailing: Mailing,
  recipient: number,
  { mailer, suppressions }: Pick<MailingDependencies, "mailer" | "suppressions">,
): Promise<Served> {
  if (mailing.content.recipients[recipient] === null) return servedErased;
  try {
    const mail = composeMail(held, mailing, recipient);
    const outcome = await mailer.send(mail);
    const { messageId } = mail;
    if (outcome.kind !== "failed") return { messageId, outcome };
    return { messageId, outcome, onceRecorded: () => suppressions.refused(held, mail.to, outcome.error) };
  } catch (failure) {
    if (!(failure instanceof PartFault)) throw failure;
    return { messageId: "", outcome: templateFailed(failure) };
  }
}
