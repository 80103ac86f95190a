import { setTimeout as pause } from "node:timers/promises";
import { Unavailable } from "../domain/unavailable.ts";
import { streamFilter, streamName } from "../event-log/subjects.ts";
import { asking, isClustered, type JetStreamConnection } from "../nats/connection.ts";
import { canReadAgain, readPending } from "../nats/consumers.ts";
import { askJetStream, lastMessageOf } from "../nats/jetstream-api.ts";
import { deliveryOf } from "../nats/message.ts";
import { digestPattern } from "./address-digest.ts";
import type { SuppressionEntries } from "./suppressed-digests.ts";

type StreamInfo = { readonly created: string; readonly state: { readonly last_seq: number } };

const readAtOnce = 2000;
/** How long a lagging replica, or another in its place, has to catch up with the leader. */
const patienceMs = 1500;
const readAgainAfterMs = 100;

/** Reads only the digests from the stream SUPPRESSIONS: they stand in the subjects of its entries. */
export function createJetStreamSuppressionEntries(connection: JetStreamConnection, prefix: string): SuppressionEntries {
  const stream = streamName(prefix, "SUPPRESSIONS");
  const all = streamFilter(prefix, "SUPPRESSIONS");
  const { nats } = connection;
  return {
    state: async () => {
      const { created, state } = await asking(connection, () =>
        askJetStream<StreamInfo>(connection, `$JS.API.STREAM.INFO.${stream}`, ""),
      );
      return { createdAt: created, lastSequence: state.last_seq };
    },
    readAfter: async (sequence, onDigest) => {
      const deadline = performance.now() + patienceMs;
      for (;;) {
        try {
          return await readToTheEnd(connection, stream, all, sequence, toDigest(onDigest));
        } catch (failure) {
          const isElsewhere = failure instanceof Unavailable && isClustered(connection);
          if (!isElsewhere || performance.now() >= deadline) throw failure;
          await pause(readAgainAfterMs);
        }
      }
    },
    onEntry: (onDigest) => {
      const onSubject = toDigest(onDigest);
      const subscription = nats.subscribe(all, {
        callback: (_, { subject }) => onSubject(subject),
      });
      return () => {
        if (!nats.isClosed()) subscription.unsubscribe();
      };
    },
  };
}

/** The digest is the last token of an entry's subject; no other message of the stream ends in a digest. */
const toDigest =
  (onDigest: (digest: string) => void) =>
  (subject: string): void => {
    const token = subject.slice(subject.lastIndexOf(".") + 1);
    if (digestPattern.test(token)) onDigest(token);
  };

/** A missing entry would get its address mailed, so a replica that lags behind counts as Unavailable. */
async function readToTheEnd(
  connection: JetStreamConnection,
  stream: string,
  all: string,
  afterSequence: number,
  onSubject: (subject: string) => void,
): Promise<void> {
  // Asked each time, because the last entry may be removed from its list meanwhile.
  const last = await asking(connection, () => lastMessageOf(connection, stream, all));
  const end = last?.sequence ?? 0;
  const reached = await readSubjects(connection, stream, afterSequence, end, onSubject);
  if (reached < end) throw new Unavailable("A replica has not yet all of the suppressions.");
}

/** Returns the sequence that it reached: the end of the replica that answered, which may lag behind. */
async function readSubjects(
  connection: JetStreamConnection,
  stream: string,
  afterSequence: number,
  end: number,
  onSubject: (subject: string) => void,
): Promise<number> {
  let reached = afterSequence;
  try {
    for await (const messages of readPending(connection, stream, afterSequence, { batch: readAtOnce, end })) {
      for (const message of messages) {
        onSubject(message.subject);
        reached = deliveryOf(message).streamSequence;
      }
    }
    return reached;
  } catch (failure) {
    if (!canReadAgain(failure)) throw failure;
    throw new Unavailable("The suppressions could not be read to their end.", { cause: failure });
  }
}
