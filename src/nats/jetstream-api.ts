import { type ApiError, headers, type MsgHdrs, NatsError } from "nats";
import { asking, type JetStreamConnection } from "./connection.ts";
import { isMessageMissing, isNothingToRemove, isOutOfRoom, isWrongSequence } from "./errors.ts";

/** Asks JetStream. A refusal is thrown as the client throws it; errors.ts tells refusals apart. */
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
 * Stores a message if the last one of its subject still has this sequence, 0 for none; false where it has not. Throws
 * what `noRoom` makes of the failure where the stream is full.
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
      // Told apart here, as most of these errors count as an outage elsewhere.
      throw isOutOfRoom(failure) ? noRoom(failure) : failure;
    }
  });

export type StreamMessage = {
  readonly sequence: number;
  readonly subject: string;
  readonly data: Uint8Array;
  /** As they were sent, `Name: value` in lines; empty for none. */
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

/** The last message of a subject, from the leader: a direct get may be answered by a replica with the past. */
export const lastMessageOf = (connection: JetStreamConnection, stream: string, subject: string) =>
  getMessage(connection, stream, { last_by_subj: subject });

/** The first message from a sequence on whose subject matches, as the leader has it. */
export const nextMessageOf = (connection: JetStreamConnection, stream: string, filter: string, sequence: number) =>
  getMessage(connection, stream, { seq: sequence, next_by_subj: filter });

/** Whether the leader has a message at this place. */
export const messageIsThere = async (
  connection: JetStreamConnection,
  stream: string,
  sequence: number,
): Promise<boolean> => (await getMessage(connection, stream, { seq: sequence })) !== null;

/** Overwrites a message and takes it out of the stream; one that is not there is no failure. */
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
