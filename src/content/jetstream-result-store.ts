import { DiscardPolicy, type JetStreamManager, RetentionPolicy, StorageType } from "nats";
import { resultSubjectOf, streamFilter, streamName } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection, payloadLimit } from "../nats/connection.ts";
import { isStreamMissing } from "../nats/errors.ts";
import { lastMessageOf, removeMessage, storeIfLast } from "../nats/jetstream-api.ts";
import { openLazily } from "../nats/open-lazily.ts";
import {
  type ResultChunk,
  type ResultPiece,
  type ResultRef,
  type ResultStore,
  ResultStoreFull,
} from "./result-store.ts";

const answerTimeoutMs = 1500;
/** The overhead of a message besides the piece: subject and headers. */
const overheadBytes = 1024;
/** The room before the bytes of a piece, enough for the longest cursor. */
const overheadOfChunk = 1024;
const lineFeed = 0x0a;

/**
 * One message for each piece in the stream RESULTS, on a subject of its own, which must be empty at the time of
 * storing: a retry after a lost answer, and a second writer, find the existing piece. The stream is created when it is
 * first needed, and holds only data that may be erased.
 */
export function createJetStreamResultStore(
  connection: JetStreamConnection,
  { prefix, replicas }: { readonly prefix: string; readonly replicas: number },
): ResultStore {
  const stream = streamName(prefix, "RESULTS");
  const maxPayload = payloadLimit(connection);

  const open = openLazily(() => ensureStream(connection, prefix, replicas));
  const find = async (result: ResultRef, index: number) => {
    await open();
    return await lastMessageOf(connection, stream, resultSubjectOf(prefix, result, result.run, index));
  };

  const subjectsBelow = (tokens: string): Promise<readonly string[]> =>
    asking(connection, async () => {
      const manager = await open();
      const filter = `${streamFilter(prefix, "RESULTS").slice(0, -1)}${tokens}.>`;
      const { state } = await manager.streams.info(stream, { subjects_filter: filter });
      return Object.keys(state.subjects ?? {});
    });

  return {
    get maxBytes() {
      return maxPayload() - overheadBytes - overheadOfChunk;
    },
    put: async (result, index, chunk) => {
      await asking(connection, open);
      const subject = resultSubjectOf(prefix, result, result.run, index);
      return await storeIfLast(connection, subject, encodeChunk(chunk), 0, noRoom);
    },
    get: (result, index) =>
      asking(connection, async () => {
        const found = await find(result, index);
        return found === null ? null : decodeChunk(found.data);
      }),
    ofTenant: async (tenant) => resultsIn(tenant, await subjectsBelow(tenant)),
    piecesOf: async ({ tenant, jobId }) => (await subjectsBelow(`${tenant}.${jobId}`)).map(pieceOf),
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

const noRoom = (cause: unknown): Error => new ResultStoreFull("There is no room for the result.", { cause });

/** Each file once, derived from the subjects of its pieces: `….<job>.<run>.<index>`. */
function resultsIn(tenant: string, subjects: readonly string[]): readonly ResultRef[] {
  const found = new Map<string, ResultRef>();
  for (const subject of subjects) {
    const [jobId = "", run = ""] = subject.split(".").slice(-3);
    found.set(`${jobId}.${run}`, { tenant, jobId, run: Number(run) });
  }
  return [...found.values()];
}

function pieceOf(subject: string): ResultPiece {
  const [run = "", index = ""] = subject.split(".").slice(-2);
  return { run: Number(run), index: Number(index) };
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
