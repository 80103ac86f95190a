import { type ApiError, headers, type MsgHdrs, NatsError } from "nats";
import { asking, type JetStreamConnection } from "./connection.ts";
import { isMessageMissing, isNothingToRemove, isOutOfRoom, isWrongSequence } from "./errors.ts";

/** Sends a request to JetStream. A refusal is thrown as the client throws it; errors.ts classifies refusals. */
export async function askJetStream<Answer>(
  connection: JetStreamConnection,
  subject: string,
  data: Uint8Array | string,
  messageHeaders?: MsgHdrs,
): Promise<Answer> {
  const { data: bytes } = await connection.request(subject, data, messageHeaders);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const answer: Answer & { readonly error?: ApiError } = JSON.parse(text);
  if (answer.error === undefined) return answer;
  const refusal = new NatsError(answer.error.description, String(answer.error.code));
  refusal.api_error = answer.error;
  throw refusal;
}

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

export type StreamMessage = {
  readonly sequence: number;
  readonly subject: string;
  readonly data: Uint8Array;
  /** In their wire form, `Name: value` in lines; empty for none. */
  readonly headers: string;
};

type Found = {
  readonly message: {
    readonly seq: number;
    readonly subject: string;
    readonly data?: string;
    readonly hdrs?: string;
  };
};

/** The last message of a subject, from the leader: a replica may answer a direct get with stale data. */
export const lastMessageOf = (connection: JetStreamConnection, stream: string, subject: string) =>
  getMessage(connection, stream, { last_by_subj: subject });

/** The first message at or after a sequence whose subject matches, read from the leader. */
export const nextMessageOf = (connection: JetStreamConnection, stream: string, filter: string, sequence: number) =>
  getMessage(connection, stream, { seq: sequence, next_by_subj: filter });

/** Whether the leader has a message at this sequence. */
export const messageIsThere = async (
  connection: JetStreamConnection,
  stream: string,
  sequence: number,
): Promise<boolean> => (await getMessage(connection, stream, { seq: sequence })) !== null;

/** Overwrites a message and removes it from the stream; a missing message is not a failure. */
export async function removeMessage(connection: JetStreamConnection, stream: string, sequence: number): Promise<void> {
  try {
    await askJetStream(connection, `$JS.API.STREAM.MSG.DELETE.${stream}`, JSON.stringify({ seq: sequence }));
  } catch (failure) {
    if (!isNothingToRemove(failure)) throw failure;
  }
}

async function getMessage(
  connection: JetStreamConnection,
  stream: string,
  wanted: object,
): Promise<StreamMessage | null> {
  try {
    const question = JSON.stringify(wanted);
    const { message } = await askJetStream<Found>(connection, `$JS.API.STREAM.MSG.GET.${stream}`, question);
    return {
      sequence: message.seq,
      subject: message.subject,
      data: Buffer.from(message.data ?? "", "base64"),
      headers: Buffer.from(message.hdrs ?? "", "base64").toString(),
    };
  } catch (failure) {
    if (isMessageMissing(failure)) return null;
    throw failure;
  }
}
