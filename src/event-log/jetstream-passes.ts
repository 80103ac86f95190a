import type { MessagePassed } from "../domain/log/events.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { lastMessageSince } from "../nats/horizon.ts";
import { lastMessageOf } from "../nats/jetstream-api.ts";
import type { StoredMessage } from "../nats/message.ts";
import { readBack } from "../nats/read-subject.ts";
import { decodeMessage } from "./decode-entry.ts";
import { type LogEvent, logRef, type StoredEvent } from "./event-log.ts";
import type { Decode } from "./jetstream-follow.ts";
import { isPassed, UndecodableEvent } from "./log-failures.ts";
import { leafHashOf } from "./log-message.ts";
import { jobOfSubject, partsOf, streamName, subjectOf } from "./subjects.ts";

type Passes = readonly StoredEvent<MessagePassed>[];

/**
 * Decodes messages into events. The decision to pass a message by comes later in the log than the message, on a subject
 * of its own. It is looked up only when a message cannot be decoded, so a healthy log costs nothing more. A reader that
 * starts from the beginning learns of it in the same way.
 */
export function createReading(
  connection: JetStreamConnection,
  prefix: string,
  stream: string = streamName(prefix, "JOBS"),
) {
  const subject = subjectOf(prefix, logRef, "pass");
  let known: { readonly lastSequence: number; readonly passes: Passes } = { lastSequence: 0, passes: [] };

  /** The last of them shows whether there are more than this process knows: a stopped reader asks every second. */
  const readPasses = async (): Promise<Passes> => {
    const last = await asking(connection, () => lastMessageOf(connection, stream, subject));
    const lastSequence = last?.sequence ?? 0;
    if (last !== null && lastSequence !== known.lastSequence) {
      const messages = await readBack(connection, stream, last);
      known = { lastSequence, passes: messages.flatMap((message) => toPass(prefix, message)) };
    }
    return known.passes;
  };

  const decode: Decode = async (messages, wantsFacts = true) => {
    const events: LogEvent[] = [];
    for (const message of messages) {
      const isWanted = wantsFacts || partsOf(prefix, message.subject)?.channel !== "facts";
      const entry = isWanted ? decodeOrFail(prefix, message) : [withoutEvent(prefix, message, "unwanted")];
      if (!(entry instanceof UndecodableEvent)) for (const event of entry) events.push(event);
      else if (isPassed(entry, await readPasses())) events.push(withoutEvent(prefix, message, undecodable));
      else return { events, failure: entry };
    }
    return { events, failure: null };
  };

  /**
   * The last sequence of a subject, if every message on it after the given sequence was passed by: a decision from
   * there is based on all decisions. Null otherwise. Called after a conflict, which nearly always comes from another
   * writer.
   */
  const passedSince = async (subject: string, sequence: number): Promise<number | null> => {
    const last = await lastMessageSince(connection, stream, subject);
    if (last === null || last.sequence <= sequence || !(decodeOrFail(prefix, last) instanceof UndecodableEvent))
      return null;
    const messages = await readBack(connection, stream, last, (message) => message.sequence <= sequence);
    const { events, failure } = await decode(messages.filter((message) => message.sequence > sequence));
    const isPassedBy = failure === null && events.every(isWithoutEvent);
    return isPassedBy ? (events.at(-1)?.sequence ?? null) : null;
  };

  return { readPasses, decode, passedSince };
}

const undecodable = "undecodable";

const isWithoutEvent = (event: LogEvent): boolean => "unknownType" in event && event.unknownType === undecodable;

/**
 * A message on the subject of passes that is no such decision passes nothing by, and can itself be passed by like any
 * other message.
 */
function toPass(prefix: string, message: StoredMessage): Passes {
  const entry = decodeOrFail(prefix, message);
  return entry instanceof UndecodableEvent ? [] : entry.filter(isPass);
}

const isPass = (event: LogEvent): event is StoredEvent<MessagePassed> =>
  "event" in event && event.event.type === "MessagePassed";

export function decodeOrFail(prefix: string, message: StoredMessage): readonly LogEvent[] | UndecodableEvent {
  const { sequence, subject, data: body } = message;
  try {
    return decodeMessage(prefix, subject, sequence, body);
  } catch (failure) {
    if (!(failure instanceof UndecodableEvent)) throw failure;
    const sha256 = leafHashOf({ sequence, storedAt: message.storedAt, subject, body }).toString("hex");
    return new UndecodableEvent(sequence, failure.reason, failure.isNewer, { subject, sha256 });
  }
}

/** A subject that does not belong to the log names no job either. */
const withoutEvent = (prefix: string, { sequence, subject }: StoredMessage, unknownType: string): LogEvent => ({
  ...(jobOfSubject(prefix)(subject) ?? logRef),
  sequence,
  index: 0,
  unknownType,
});
