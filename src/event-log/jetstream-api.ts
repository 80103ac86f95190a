import { type ApiError, type MsgHdrs, NatsError } from "nats";
import type { JetStreamConnection } from "./jetstream-connection.ts";
import { isMessageMissing } from "./jetstream-errors.ts";

/** Asks JetStream, and throws what it refuses as the client does, for `jetstream-errors.ts` to tell apart. */
export async function askJetStream<Answer>(
  connection: JetStreamConnection,
  subject: string,
  data: Uint8Array | string,
  headers?: MsgHdrs,
): Promise<Answer> {
  const { data: bytes } = await connection.request(subject, data, headers);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const answer: Answer & { readonly error?: ApiError } = JSON.parse(text);
  if (answer.error === undefined) return answer;
  const refusal = new NatsError(answer.error.description, String(answer.error.code));
  refusal.api_error = answer.error;
  throw refusal;
}

export type StreamMessage = { readonly sequence: number; readonly subject: string; readonly data: Uint8Array };

type Found = { readonly message: { readonly seq: number; readonly subject: string; readonly data?: string } };

/** The last message of a subject, from the leader: a direct get may be answered by a replica with the past. */
export async function lastMessageOf(
  connection: JetStreamConnection,
  stream: string,
  subject: string,
): Promise<StreamMessage | null> {
  try {
    const question = JSON.stringify({ last_by_subj: subject });
    const { message } = await askJetStream<Found>(connection, `$JS.API.STREAM.MSG.GET.${stream}`, question);
    return { sequence: message.seq, subject: message.subject, data: Buffer.from(message.data ?? "", "base64") };
  } catch (failure) {
    if (isMessageMissing(failure)) return null;
    throw failure;
  }
}
