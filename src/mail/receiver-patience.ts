import type { SendOutcome } from "../domain/recipients/events.ts";

/** Takes each outcome of a mail server with the address of the mail, and returns what the outcome is about this mail. */
export type ReceiverPatience = (address: string, outcome: SendOutcome) => SendOutcome;

/** The last answer that was none about the session, of one receiver. */
type Answered = { readonly receiver: string; readonly at: number };

/** A server that has answered for another receiver within this time is there. */
const freshMs = 60_000;
/** A server that turns away so many receivers, and takes nothing in between, asks for patience for itself. */
const mostTurnedAway = 3;

/**
 * Tells what a 421 in answer to a mail is about. A mail server says so for a receiver that takes no more mails for now,
 * and before it shuts down. It is about the receiver if the server took mails for another one a moment ago, and has turned
 * away few others since; in doubt it is about the server, which the breaker protects.
 */
export function createReceiverPatience(
  receiverOf: (address: string) => string,
  now: () => number = () => performance.now(),
): ReceiverPatience {
  const none: Answered = { receiver: "", at: Number.NEGATIVE_INFINITY };
  let [latest, latestOther] = [none, none];
  const turnedAway = new Set<string>();

  const answered = (receiver: string): void => {
    turnedAway.clear();
    if (latest.receiver !== receiver) latestOther = latest;
    latest = { receiver, at: now() };
  };
  const isAboutReceiver = (receiver: string): boolean => {
    const other = latest.receiver === receiver ? latestOther : latest;
    if (turnedAway.size < mostTurnedAway) turnedAway.add(receiver);
    return now() - other.at < freshMs && turnedAway.size < mostTurnedAway;
  };

  return (address, outcome) => {
    if (outcome.kind === "unknown") return outcome;
    const receiver = receiverOf(address);
    if (outcome.kind !== "unavailable") {
      answered(receiver);
      return outcome;
    }
    const { ofMail } = outcome;
    return ofMail !== undefined && isAboutReceiver(receiver) ? { kind: "deferred", error: ofMail } : outcome;
  };
}
