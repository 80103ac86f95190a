import { readSubject } from "../event-log/jetstream-reader.ts";
import { streamOfBucket, subjectsOfBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { nameWith } from "../nats/names.ts";
import { type AccessRecords, toRecords } from "./access-records.ts";

/** Everything that the bucket of keys and tenants holds now. */
export async function readAccessRecords(connection: JetStreamConnection, prefix: string): Promise<AccessRecords> {
  const bucket = nameWith(prefix, "ACCESS");
  const subjects = subjectsOfBucket(bucket);
  const messages = await readSubject(connection, streamOfBucket(bucket), subjects);
  return toRecords(messages.map((message) => [message.subject.slice(subjects.length - 1), message.string()]));
}

/** Changes with every entry that is written, and when the bucket is made anew. */
export async function accessVersion(connection: JetStreamConnection, prefix: string): Promise<string> {
  const stream = streamOfBucket(nameWith(prefix, "ACCESS"));
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: 1000 });
  const { created, state } = await asking(connection, () => manager.streams.info(stream));
  return `${created} ${state.last_seq}`;
}
