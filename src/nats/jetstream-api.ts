import { type ApiError, headers, type Msg, type MsgHdrs, NatsError } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { asking, isClustered, type JetStreamConnection } from "./connection.ts";
import { isMessageMissing, isNotRemoved, isOutOfRoom, isWrongSequence } from "./errors.ts";
import { askLeader, leadsForMs } from "./leader.ts";
import type { StoredMessage } from "./message.ts";

/** Sends a request to JetStream. A refusal is thrown as the client throws it; errors.ts classifies refusals. */
export async function askJetStream<Answer>(
  connection: JetStreamConnection,
  subject: string,
  data: Uint8Array | string,
  messageHeaders?: MsgHdrs,
): Promise<Answer> {
  return answerIn<Answer>(await connection.request(subject, data, messageHeaders));
}

function answerIn<Answer>({ data: bytes }: Msg): Answer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const answer: Answer & { readonly error?: ApiError } = JSON.parse(text);
  if (answer.error === undefined) return answer;
  const refusal = new NatsError(answer.error.description, String(answer.error.code));
  refusal.api_error = answer.error;
  throw refusal;
}

/**
 * How long a server may take in a large stream to make a consumer, or to describe it, without being taken for dead. No
 * request of a client waits for this.
 */
export const slowAnswerMs = 30_000;

/**
 * In a cluster, the node that has to answer may be frozen or dead, and the one that takes its place knows nothing of the
 * question. Nor do the others notice a death for a minute and a half: of three nodes, each third consumer without replicas
 * is given to the dead one. So the question is asked again after this time, and whichever answer comes first counts.
 */
const askAgainMs = 750;

/**
 * Like askJetStream, for what the server may take long for. A connection that is lost meanwhile ends the wait at once,
 * because its answers are lost with it. What is asked for may be done more than once. Throws Unavailable.
 */
export async function askSlowly<Answer>(
  connection: JetStreamConnection,
  subject: string,
  data: string,
): Promise<Answer> {
  const deadline = performance.now() + slowAnswerMs;
  let stopListening = (): void => {};
  let repeating: NodeJS.Timeout | undefined;
  const answered = new Promise<Msg>((resolve, reject) => {
    stopListening = connection.onReconnect(() => reject(new Unavailable("The connection to NATS was lost.")));
    const ask = (): void => {
      const timeout = Math.max(1, deadline - performance.now());
      askFor(connection, subject, data, timeout).then(resolve, reject);
    };
    ask();
    if (!isClustered(connection)) return;
    repeating = setInterval(() => {
      connection.unanswered();
      ask();
    }, askAgainMs);
  });
  try {
    return answerIn<Answer>(await answered);
  } finally {
    stopListening();
    clearInterval(repeating);
  }
}

const askFor = (connection: JetStreamConnection, subject: string, data: string, timeout: number): Promise<Msg> =>
  asking(connection, () => connection.nats.request(subject, data, { timeout }));

/**
 * Stores a message if the last one of its subject still has this sequence, 0 for none; false otherwise. If the stream
 * is full, throws the error that `noRoom` makes of the failure.
 */
export const storeIfLast = (
  connection: JetStreamConnection,
  subject: string,
  data: Uint8Array | string,
  lastSequence: number,
  noRoom: (cause: unknown) => Error,
  more: Readonly<Record<string, string>> = {},
): Promise<boolean> =>
  asking(connection, async () => {
    const messageHeaders = headers();
    for (const [name, value] of Object.entries(more)) messageHeaders.append(name, value);
    messageHeaders.append("Nats-Expected-Last-Subject-Sequence", String(lastSequence));
    try {
      await askJetStream(connection, subject, data, messageHeaders);
      return true;
    } catch (failure) {
      if (isWrongSequence(failure)) return false;
      // Classified here, because most of these errors count as an outage elsewhere.
      throw isOutOfRoom(failure) ? noRoom(failure) : failure;
    }
  });

export type StreamMessage = StoredMessage & {
  /** In their wire form, `Name: value` in lines; empty for none. */
  readonly headers: string;
};

type Found = {
  readonly message: {
    readonly seq: number;
    readonly subject: string;
    readonly data?: string;
    readonly hdrs?: string;
    readonly time: string;
  };
};

/** The sequence that a message names as the last one of its subject before it, 0 for none; null if it names none. */
export function expectedBefore({ headers: lines }: StreamMessage): number | null {
  const [, sequence] = /^Nats-Expected-Last-Subject-Sequence: (\d+)\r$/m.exec(lines) ?? [];
  return sequence === undefined ? null : Number(sequence);
}

/** The last message of a subject, from the leader: a replica may answer a direct get with stale data. */
export const lastMessageOf = (connection: JetStreamConnection, stream: string, subject: string) =>
  getMessage(connection, stream, { last_by_subj: subject });

/** The same; in a cluster never from a leader that another one may have replaced. */
export const currentLastMessageOf = (connection: JetStreamConnection, stream: string, subject: string) =>
  getMessage(connection, stream, { last_by_subj: subject }, true);

/** The first message at or after a sequence whose subject matches, read from the leader. */
export const nextMessageOf = (connection: JetStreamConnection, stream: string, filter: string, sequence: number) =>
  getMessage(connection, stream, { seq: sequence, next_by_subj: filter });

/** The message at a sequence, read from the leader; null if there is none, or it cannot be read. */
export const messageAt = (connection: JetStreamConnection, stream: string, sequence: number) =>
  getMessage(connection, stream, { seq: sequence });

/**
 * Overwrites a message and removes it from the stream; a missing message is not a failure. Throws Unavailable where it stays:
 * up to 2.12, NATS removes nothing while it makes a snapshot of the stream.
 */
export async function removeMessage(connection: JetStreamConnection, stream: string, sequence: number): Promise<void> {
  try {
    await askJetStream(connection, `$JS.API.STREAM.MSG.DELETE.${stream}`, JSON.stringify({ seq: sequence }));
  } catch (failure) {
    if (!isNotRemoved(failure)) throw failure;
    if ((await messageAt(connection, stream, sequence)) !== null)
      throw new Unavailable(`${stream} keeps a message that was to be removed: it may be backed up now.`, {
        cause: failure,
      });
  }
}

/**
 * A leader that was cut off from the others believes for 10 to 20 s that it leads, and lacks what they store meanwhile. So
 * in a cluster, what it does not have is missing only if it had a majority. Throws Unavailable where that is not known.
 */
async function getMessage(
  connection: JetStreamConnection,
  stream: string,
  wanted: object,
  mustBeCurrent = false,
): Promise<StreamMessage | null> {
  const leader = isClustered(connection) ? askLeader(connection, stream) : null;
  const found = await findMessage(connection, stream, wanted);
  if (leader === null || (found !== null && !mustBeCurrent)) return found;
  const isInTime = performance.now() - leader.askedAt < leadsForMs;
  if (!isInTime || !(await leader.hasMajority))
    throw new Unavailable(`The leader of ${stream} may have lost the other nodes.`);
  return found;
}

async function findMessage(
  connection: JetStreamConnection,
  stream: string,
  wanted: object,
): Promise<StreamMessage | null> {
  try {
    const question = JSON.stringify(wanted);
    const { message } = await askJetStream<Found>(connection, `$JS.API.STREAM.MSG.GET.${stream}`, question);
    return {
      sequence: message.seq,
      storedAt: nanosOf(message.time),
      subject: message.subject,
      data: Buffer.from(message.data ?? "", "base64"),
      headers: Buffer.from(message.hdrs ?? "", "base64").toString(),
    };
  } catch (failure) {
    if (isMessageMissing(failure)) return null;
    throw failure;
  }
}

/** `2026-11-21T09:30:00.12Z` in the form that deliveries have. */
function nanosOf(time: string): string {
  const [, seconds = "", fraction = ""] = /^([^.Z]+)(?:\.(\d+))?/.exec(time) ?? [];
  return `${Date.parse(`${seconds}Z`) / 1000}${fraction.padEnd(9, "0")}`;
}
