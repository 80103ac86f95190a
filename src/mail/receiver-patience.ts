import { isAnswer, type SendOutcome } from "../domain/recipients/events.ts";

/** Takes each outcome of a mail server with the address of the mail, and returns what the outcome is about this mail. */
export type ReceiverPatience = (address: string, outcome: SendOutcome) => SendOutcome;

/** A receiver or an address, and when the server last answered for it with something that was not about the session. */
type Answered = { readonly name: string; readonly at: number };

/** A server that has answered for another one within this time is there. */
const freshMs = 60_000;
/** A server that turns away so many, and takes nothing in between, asks for patience for itself, or is away. */
const mostTurnedAway = 3;

/**
 * Tells what it is about that a mail server ends a connection in answer to a mail. With 421 it does so for a receiver that
 * takes no more mails for now, and before it shuts down; without a word, for a mail that it cannot cope with, and when it
 * breaks down. It is about that receiver, or that address, if the server answered for another one a moment ago, and has
 * turned away few others since; in doubt it is about the server, which the breaker protects. Without `receiverOf`, a 421 is
 * always about the server.
 */
export function createReceiverPatience(
  receiverOf: ((address: string) => string) | null,
  now: () => number = () => performance.now(),
): ReceiverPatience {
  const receivers = receiverOf === null ? null : createWitness(now);
  const addresses = createWitness(now);

  return (address, outcome) => {
    const receiver = receiverOf?.(address) ?? "";
    if (isAnswer(outcome)) {
      receivers?.answered(receiver);
      addresses.answered(address);
    }
    if (outcome.kind !== "unavailable" || outcome.ofMail === undefined) return outcome;
    const { ofMail } = outcome;
    const isAbout = ofMail.replyCode === null ? addresses.isAbout(address) : receivers?.isAbout(receiver);
    return isAbout ? { kind: "deferred", error: ofMail } : outcome;
  };
}

/** Remembers which name the server answered for last, and which names it has turned away since. */
function createWitness(now: () => number) {
  const none: Answered = { name: "", at: Number.NEGATIVE_INFINITY };
  let [latest, latestOther] = [none, none];
  const turnedAway = new Set<string>();
  return {
    answered: (name: string): void => {
      turnedAway.clear();
      if (latest.name !== name) latestOther = latest;
      latest = { name, at: now() };
    },
    /** Whether it is about this one alone that it is turned away. */
    isAbout: (name: string): boolean => {
      const other = latest.name === name ? latestOther : latest;
      if (turnedAway.size < mostTurnedAway) turnedAway.add(name);
      return now() - other.at < freshMs && turnedAway.size < mostTurnedAway;
    },
  };
}
