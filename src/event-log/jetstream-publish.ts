import { setTimeout as pause } from "node:timers/promises";
import { headers, type MsgHdrs } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { asking, isUnanswered, type JetStreamConnection } from "../nats/connection.ts";
import { isBusy, isOutOfRoom, isTooLarge, isWrongSequence } from "../nats/errors.ts";
import { sawStored } from "../nats/horizon.ts";
import { askJetStream, lastMessageOf, type StreamMessage } from "../nats/jetstream-api.ts";
import { readBack } from "../nats/read-subject.ts";
import { answerTimeoutMs } from "../nats/requests.ts";
import { encodeEntry, entryContentType } from "./encode-entry.ts";
import type { EventLog, JobRef, NewEntry } from "./event-log.ts";
import { LogFull, VersionConflict } from "./log-failures.ts";
import { channelOfEntry, streamName, subjectOf } from "./subjects.ts";

/** How often a publish without an answer is sent in all, with the same id and the same expectation. */
const maxTries = 3;
/**
 * The delay before a message that a cluster already has in progress is sent again, for as long as an answer may take.
 */
const askAgainAfterMs = 50;

/** Called with every message that was stored. */
export type OnStored = (subject: string, data: Uint8Array) => void;

type Stored = { readonly seq: number; readonly duplicate?: boolean };

const stillReplicating = (cause?: unknown): Unavailable =>
  new Unavailable("NATS is still replicating the message and has not stored it.", { cause });

export function createPublisher(
  connection: JetStreamConnection,
  prefix: string,
  onStored: OnStored,
): Pick<EventLog, "append" | "record"> {
  const stream = streamName(prefix, "JOBS");
  /** Unavailable where the same message is to be sent again. */
  const publishOnce = async (subject: string, data: Uint8Array, sent: MsgHdrs): Promise<Stored | Unavailable> => {
    try {
      const answer = await askJetStream<Stored>(connection, subject, data, sent);
      // With sequence 0 older releases report that the message is in progress: it is stored nowhere yet, and may never
      // be.
      return answer.seq === 0 ? stillReplicating() : answer;
    } catch (failure) {
      // This process or another published the same message before, and it is not yet stored.
      if (isBusy(failure)) return stillReplicating(failure);
      // Only a log whose beginning is being cut off has a limit for the size of an entry.
      if (isTooLarge(failure)) return new Unavailable("The log takes nothing for a moment.", { cause: failure });
      throw failure;
    }
  };
  const publish = async (subject: string, data: Uint8Array, id: string, expectedSequence: number | null) => {
    const messageHeaders = headers();
    messageHeaders.append("Content-Type", entryContentType);
    messageHeaders.append("Nats-Msg-Id", id);
    if (expectedSequence !== null) {
      messageHeaders.append("Nats-Expected-Last-Subject-Sequence", String(expectedSequence));
    }
    const deadline = performance.now() + answerTimeoutMs;
    for (;;) {
      const answer = await publishOnce(subject, data, messageHeaders);
      if (!(answer instanceof Unavailable)) {
        sawStored(connection, stream, answer.seq);
        onStored(subject, data);
        return answer;
      }
      if (performance.now() >= deadline) throw answer;
      await pause(askAgainAfterMs);
    }
  };

  /** The sequence of the entry with this id on the subject, if there is one. */
  const findStored = async (subject: string, id: string, expectedSequence: number | null): Promise<number | null> => {
    const last = await asking(connection, () => lastMessageOf(connection, stream, subject));
    if (last === null) return null;
    const isOurs = ({ headers: lines }: StreamMessage): boolean => lines.includes(`\r\nNats-Msg-Id: ${id}\r\n`);
    const isBefore = ({ sequence }: StreamMessage): boolean => sequence <= (expectedSequence ?? 0);
    const messages = await readBack(connection, stream, last, (message) => isOurs(message) || isBefore(message));
    return messages.find(isOurs)?.sequence ?? null;
  };

  const store = async (job: JobRef, entry: NewEntry, expectedSequence: number | null): Promise<number> => {
    const subject = subjectOf(prefix, job, channelOfEntry(entry));
    const data = encodeEntry(job, entry);
    const [{ id }] = entry;
    let unanswered: unknown = null;
    for (let tries = 0; tries < maxTries; tries += 1) {
      // The client would keep the message until it reconnects, long after the caller has received an error.
      if (!connection.isUp()) throw new Unavailable("There is no connection to NATS.", { cause: unanswered });
      try {
        const { seq, duplicate } = await publish(subject, data, id, expectedSequence);
        const isForeign = duplicate && expectedSequence !== null && unanswered === null;
        if (isForeign) throw new VersionConflict(`${id} was decided before.`);
        return seq;
      } catch (failure) {
        if (isOutOfRoom(failure)) throw new LogFull("The log has reached its size limit.", { cause: failure });
        if (isWrongSequence(failure)) {
          // After a lost answer, servers from 2.12 on reject the repetition: the conflict may be with our own message.
          const sequence = unanswered === null ? null : await findStored(subject, id, expectedSequence);
          if (sequence !== null) return sequence;
          throw new VersionConflict(`${id} expected ${expectedSequence}.`, { cause: failure });
        }
        if (!isUnanswered(failure)) throw failure;
        unanswered = failure;
      }
    }
    throw new Unavailable("NATS did not answer.", { cause: unanswered });
  };

  return { append: store, record: (job, entry) => store(job, entry, null) };
}
