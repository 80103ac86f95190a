import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from "nats";
import { asking, isUnanswered, type JetStreamConnection } from "./jetstream-connection.ts";
import { isStreamMissing } from "./jetstream-errors.ts";
import { streamFilter, streamName } from "./subjects.ts";

const answerTimeoutMs = 1500;
const atMostEveryMs = 1000;

/** More than the rest of a block on any usual disk: a short message still fits where nothing else does. */
const messageBytes = 8192;
const maxStreamBytes = 65_536;

export type LogCanary = {
  /** Returns when NATS has stored a message, now or within the last second; throws where it does not, mostly LogUnavailable. */
  check(): Promise<void>;
};

type CanaryConfig = Partial<StreamConfig> & { readonly name: string; readonly subjects: [string] };

/**
 * Finds out whether NATS stores what it is given: a server on a full disk looks healthy and answers nothing.
 *
 * Neither the log nor the content can hold the canary. From the log nothing is ever removed; and newer servers freeze
 * a stream for good whose write failed, also when there is room again, so that a canary would do the harm it is to warn
 * of. So it has a stream of one message on the same disk, and while that one is frozen it is tried in another. The
 * frozen one is removed only then: what that frees would be room enough for a canary, and for nothing else.
 */
export function createJetStreamCanary(connection: JetStreamConnection, prefix: string, replicas: number): LogCanary {
  let current = canaryConfig(prefix, replicas, 1);
  let spare = canaryConfig(prefix, replicas, 2);
  const message = new Uint8Array(messageBytes);
  let isFrozen = false;

  const publish = ({ subjects: [subject] }: CanaryConfig): Promise<unknown> =>
    connection.nats.jetstream().publish(subject, message, { timeout: answerTimeoutMs });

  const singInCurrent = async (): Promise<void> => {
    try {
      await publish(current);
    } catch (failure) {
      if (!isStreamAbsent(failure)) {
        isFrozen = isUnanswered(failure);
        throw failure;
      }
      await ensure(connection, current);
      await publish(current);
    }
  };
  const singInSpare = async (): Promise<void> => {
    // It may be frozen as well, from the last time.
    await remove(connection, spare);
    await ensure(connection, spare);
    await publish(spare);
    await remove(connection, current);
    [current, spare] = [spare, current];
    isFrozen = false;
  };
  return { check: atMostOnceIn(atMostEveryMs, () => asking(connection, isFrozen ? singInSpare : singInCurrent)) };
}

const canaryConfig = (prefix: string, replicas: number, number: number): CanaryConfig => ({
  name: `${streamName(prefix, "CANARY")}_${number}`,
  subjects: [streamFilter(prefix, "CANARY").replace(">", String(number))],
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.Old,
  max_msgs: 1,
  max_bytes: maxStreamBytes,
  num_replicas: replicas,
});

/** Nobody listens on the subject: the stream was never made, or another process is making it anew. */
const isStreamAbsent = (failure: unknown): boolean =>
  isStreamMissing(failure) || (failure as { readonly code?: string }).code === "503";

async function ensure({ nats }: JetStreamConnection, config: CanaryConfig): Promise<void> {
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: answerTimeoutMs });
  try {
    await manager.streams.info(config.name);
  } catch (failure) {
    if (!isStreamMissing(failure)) throw failure;
    await manager.streams.add(config);
  }
}

/** One that is gone already will do as well. */
async function remove({ nats }: JetStreamConnection, { name }: CanaryConfig): Promise<void> {
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: answerTimeoutMs });
  await manager.streams.delete(name).catch((failure: unknown) => {
    if (!isStreamMissing(failure)) throw failure;
  });
}

/** However many ask: who comes while one is on its way, or soon after, gets the same answer. */
function atMostOnceIn(ms: number, act: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> | null = null;
  let begunAt = Number.NEGATIVE_INFINITY;
  let isOver = true;
  return () => {
    if (last !== null && (!isOver || performance.now() - begunAt < ms)) return last;
    begunAt = performance.now();
    isOver = false;
    last = act().finally(() => {
      isOver = true;
    });
    return last;
  };
}
