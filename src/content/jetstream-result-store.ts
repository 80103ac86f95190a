import { DiscardPolicy, headers, type JetStreamManager, RetentionPolicy, StorageType } from "nats";
import { resultSubjectOf, streamFilter, streamName } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isOutOfRoom, isStreamMissing, isWrongSequence } from "../nats/errors.ts";
import { askJetStream, lastMessageOf, removeMessage } from "../nats/jetstream-api.ts";
import { type ResultChunk, type ResultRef, type ResultStore, ResultStoreFull } from "./result-store.ts";

const answerTimeoutMs = 1500;
/** What a message carries besides the piece: subject and headers. */
const overheadBytes = 1024;
/** What goes before the bytes of a piece, with room for the longest cursor. */
const overheadOfChunk = 1024;
const lineFeed = 0x0a;

/**
 * One message a piece in the stream RESULTS, on a subject of its own, which must be empty when it is stored: so a
 * repetition whose first answer was lost, and a second writer, find what is there. The stream is made when it is first
 * needed, and holds nothing but what may be erased.
 */
export function createJetStreamResultStore(
  connection: JetStreamConnection,
  { prefix, replicas }: { readonly prefix: string; readonly replicas: number },
): ResultStore {
  const { nats } = connection;
  const stream = streamName(prefix, "RESULTS");
  // Between two connections the client does not know it; what was told last still says what to expect.
  let maxPayload = nats.info?.max_payload ?? 0;
  connection.onReconnect(() => {
    maxPayload = nats.info?.max_payload ?? maxPayload;
  });

  let opened: Promise<JetStreamManager> | null = null;
  const open = (): Promise<JetStreamManager> => {
    opened ??= ensureStream(connection, prefix, replicas).catch((failure: unknown) => {
      opened = null;
      throw failure;
    });
    return opened;
  };
  const find = async (result: ResultRef, index: number) => {
    await open();
    return await lastMessageOf(connection, stream, resultSubjectOf(prefix, result, result.run, index));
  };

  return {
    get maxBytes() {
      return maxPayload - overheadBytes - overheadOfChunk;
    },
    put: (result, index, chunk) =>
      asking(connection, async () => {
        await open();
        const messageHeaders = headers();
        messageHeaders.append("Nats-Expected-Last-Subject-Sequence", "0");
        const subject = resultSubjectOf(prefix, result, result.run, index);
        try {
          await askJetStream(connection, subject, encodeChunk(chunk), messageHeaders);
          return true;
        } catch (failure) {
          if (isWrongSequence(failure)) return false;
          if (!isOutOfRoom(failure)) throw failure;
          throw new ResultStoreFull("There is no room for the result.", { cause: failure });
        }
      }),
    get: (result, index) =>
      asking(connection, async () => {
        const found = await find(result, index);
        return found === null ? null : decodeChunk(found.data);
      }),
    ofTenant: (tenant) =>
      asking(connection, async () => {
        const manager = await open();
        const filter = `${streamFilter(prefix, "RESULTS").slice(0, -1)}${tenant}.>`;
        const { state } = await manager.streams.info(stream, { subjects_filter: filter });
        return resultsIn(tenant, Object.keys(state.subjects ?? {}));
      }),
    erase: (result, index) =>
      asking(connection, async () => {
        const found = await find(result, index);
        // Overwritten on the disk, and not only unlinked.
        if (found !== null) await removeMessage(connection, stream, found.sequence);
      }),
  };
}

/** A line of JSON that describes the piece, then its bytes. */
export const encodeChunk = ({ bytes, ...description }: ResultChunk): Uint8Array =>
  Buffer.concat([Buffer.from(`${JSON.stringify(description)}\n`), bytes]);

export function decodeChunk(stored: Uint8Array): ResultChunk {
  const end = stored.indexOf(lineFeed);
  const description: Omit<ResultChunk, "bytes"> = JSON.parse(Buffer.from(stored.subarray(0, end)).toString());
  return { ...description, bytes: stored.subarray(end + 1) };
}

/** Each file once, of the subjects of its pieces: `….<job>.<run>.<index>`. */
function resultsIn(tenant: string, subjects: readonly string[]): readonly ResultRef[] {
  const found = new Map<string, ResultRef>();
  for (const subject of subjects) {
    const [jobId = "", run = ""] = subject.split(".").slice(-3);
    found.set(`${jobId}.${run}`, { tenant, jobId, run: Number(run) });
  }
  return [...found.values()];
}

async function ensureStream(
  { nats }: JetStreamConnection,
  prefix: string,
  replicas: number,
): Promise<JetStreamManager> {
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: answerTimeoutMs });
  const name = streamName(prefix, "RESULTS");
  try {
    await manager.streams.info(name);
  } catch (failure) {
    if (!isStreamMissing(failure)) throw failure;
    await manager.streams.add({
      name,
      subjects: [streamFilter(prefix, "RESULTS")],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.New,
      allow_direct: false,
      max_age: 0,
      max_msgs: -1,
      num_replicas: replicas,
    });
  }
  return manager;
}
