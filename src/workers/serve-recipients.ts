import { outcomeUnknown } from "../domain/recipients/events.ts";
import {
  countRecipients,
  deferredRecipients,
  recipientsInDoubt,
  recipientsToMail,
} from "../domain/recipients/ledger.ts";
import { type Bookkeeper, giveBackClaims } from "./bookkeeper.ts";
import type { Lease } from "./lease.ts";
import { createLeavingOut } from "./leave-out.ts";
import { mayBePutOff } from "./patience.ts";
import { type PipelineEnd, runPipeline } from "./pipeline.ts";
import { type Aside, createAside } from "./put-aside.ts";
import type { Serving } from "./serving.ts";
import { noOthers } from "./supply.ts";
import { trackProgress } from "./track-progress.ts";
import { type AttemptEnd, endOfAttempt, endWithWaiting, type HeldTurn, type Tried } from "./turn.ts";

/** Does one attempt of a job with recipients: claims each recipient that is still to be served, and records it after. */
export async function serveRecipients(
  held: HeldTurn,
  lease: Lease,
  books: Bookkeeper,
  serving: Serving,
): Promise<AttemptEnd> {
  const leavingOut = createLeavingOut(held, books, serving.whyNot, serving.stopping);
  const toServe = await recipientsOfAttempt(held, books);
  const notSent = new Set(held.claimed);
  // The worker hears of decisions only from here on. With this answer, it has missed none.
  if (toServe.length > notSent.size) lease.confirm().catch(() => {});
  const left = toServe.filter((recipient) => !notSent.has(recipient));
  const aside = createAside(serving.holdingBack, lease, books, { notSent, left });
  const recipients = { notSent, last: toServe.at(-1), aside };
  const progress = trackProgress(held, lease, books, leavingOut, recipients, serving);
  const { using = (work) => work() } = serving;
  const { supply } = held;
  supply?.open(left);
  const atOnce = (): number => claimSize(held, serving);
  const claim = async (group: readonly number[]): Promise<readonly number[] | false> => {
    await aside.releaseClaims();
    const toHandle = [...aside.withRoom(atOnce()), ...aside.sift(group)];
    const others = await leavingOut.sift(toHandle);
    if (!(await lease.confirmLately())) return false;
    for (const recipient of others) notSent.add(recipient);
    supply?.claimed(group);
    if (others.length === 0 || (await books.claim(others))) return toHandle;
    // It is lost: without this, the worker might believe in it for a moment longer, and claim them once more.
    await lease.confirm();
    return false;
  };
  const serveLeft = (claimed: readonly number[]) =>
    runPipeline({
      claimed,
      items: left,
      window: serving.window,
      claimSize: atOnce,
      claim,
      handle: async (recipient) => {
        if (!aside.mayBeServed(recipient)) return;
        await using(() => progress.handle(recipient)).finally(() => aside.served(recipient));
      },
      mayGoOn: () => lease.isHeld() && !serving.stopping.aborted && progress.outage.reason() === null,
    });
  const more = { left, aside, supply, claim, serveLeft, atOnce, hurry: progress.hurry };
  const end = await serveLeft(held.claimed)
    .then((end) => serveMore(end, more))
    .then(async (end) => {
      if (end.isComplete && lease.isHeld()) await progress.outage.allTried();
      return end;
    })
    .finally(progress.end)
    .finally(aside.end)
    .then(async (end) => {
      // What is known when every recipient was served is stored with the decision that ends the attempt.
      if (!end.isComplete || notSent.size > 0) await books.settled();
      return end;
    })
    .catch(async (failure: unknown) => {
      // Also after a claim that could not be stored: mails sent until then must not be left unrecorded.
      await books.settled().catch(() => {});
      // The first failure is the one to report, whether or not the claims could be taken back as well.
      await giveBackClaims(lease, books, notSent).catch(() => {});
      throw failure;
    });
  // No check here whether the lease was held to the end: the decision that ends the attempt is guarded by the lease.
  const isComplete = end.isComplete && notSent.size === 0;
  if (!isComplete && !(await giveBackClaims(lease, books, notSent))) return { kind: "lease-lost" };
  const others = (await supply?.gather(books.settled)) ?? noOthers;
  if (others.areLost) return { kind: "interrupted" };
  // Helpers may have given some back that nobody serves any more.
  const isAllTried = isComplete && left.length === 0;
  if (isAllTried && hasNoOtherAttempt(held))
    for (const recipient of refusedInAll(held, aside)) aside.refused(recipient);
  if (end.isComplete && aside.size() > 0 && (isAllTried || mayBePutOff(held)))
    return await endOfWaiting(held, lease, books, aside, progress);
  if (isAllTried && others.haveServedAll) return endOfAttempt(held, progress);
  const outage = progress.outage.reason();
  if (outage !== null) return { kind: "try-again", counts: countRecipients(held.ledger), error: outage };
  return { kind: "interrupted" };
}

type More = {
  readonly left: readonly number[];
  readonly aside: Aside;
  readonly supply: HeldTurn["supply"];
  readonly claim: (group: readonly number[]) => Promise<readonly number[] | false>;
  readonly serveLeft: (claimed: readonly number[]) => Promise<PipelineEnd<number>>;
  /** How many may be claimed at a time. */
  readonly atOnce: () => number;
  readonly hurry: AbortSignal;
};

/** Serves those that were put aside, and those that helpers give back. A helper waits for no room: its holder does. */
async function serveMore(first: PipelineEnd<number>, more: More): Promise<PipelineEnd<number>> {
  const { left, aside, supply, claim, serveLeft, atOnce, hurry } = more;
  let end = first;
  while (end.isComplete) {
    const isOver = () => left.length > 0;
    const found = supply?.isHelp ? [] : await aside.untilRoom(atOnce(), isOver, hurry);
    if (found.length > 0) {
      const claimed = await claim(found);
      end = claimed === false ? { isComplete: false, unhandled: found } : await serveLeft(claimed);
    } else if (left.length > 0 || (supply !== null && (await supply.refill()))) end = await serveLeft([]);
    else break;
  }
  await aside.releaseClaims();
  return end;
}

/** Only those are left whose receivers have asked for patience. */
async function endOfWaiting(
  held: HeldTurn,
  lease: Lease,
  books: Bookkeeper,
  aside: Aside,
  progress: Tried,
): Promise<AttemptEnd> {
  if (mayBePutOff(held)) return endWithWaiting(held, aside.size(), aside.returnInMs(), progress);
  // A pause or a cancellation ends the wait, too.
  if (!(await lease.confirm())) return { kind: "lease-lost" };
  const message = "The mail servers of this receiver have asked for patience for too long.";
  const error = { code: "receiver-throttled", message, replyCode: null, statusCode: null };
  const tried = hasNoOtherAttempt(held) ? aside.refusedRecipients() : [];
  for (const recipient of [...aside.recipients(), ...tried])
    await books.outcome({ type: "RecipientFailed", recipient, error });
  return endOfAttempt(held, progress);
}

/** In the last attempt nothing else is deferred, and some of them may be known to a helper alone. */
function refusedInAll({ ledger }: HeldTurn, aside: Aside): readonly number[] {
  const untried = new Set(aside.recipients());
  return deferredRecipients(ledger).filter((recipient) => !untried.has(recipient));
}

const hasNoOtherAttempt = ({ deferredUntil, isLastAttempt }: HeldTurn): boolean =>
  deferredUntil === null && isLastAttempt;

const claimSize = ({ settings }: HeldTurn, { window, claimsAtOnce = 1 }: Serving): number =>
  Math.max(window(), settings.onUnknown === "resend" ? claimsAtOnce : 1);

/** A crash left some recipients in doubt; the settings of the job decide whether they are served again or left alone. */
async function recipientsOfAttempt({ ledger, settings }: HeldTurn, books: Bookkeeper): Promise<number[]> {
  const inDoubt = recipientsInDoubt(ledger);
  if (settings.onUnknown === "resend") {
    return [...recipientsToMail(ledger), ...inDoubt].sort((one, other) => one - other);
  }
  const message = "The worker died while this was on its way; nobody can know whether it was taken.";
  const error = { code: outcomeUnknown, message, replyCode: null, statusCode: null };
  for (const recipient of inDoubt) await books.outcome({ type: "RecipientUnknown", recipient, error });
  return recipientsToMail(ledger);
}
