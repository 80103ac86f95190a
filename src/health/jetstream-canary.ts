import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { streamFilter, streamName } from "../event-log/subjects.ts";
import { asking, isUnanswered, type JetStreamConnection } from "../nats/connection.ts";
import { isStreamMissing } from "../nats/errors.ts";

const answerTimeoutMs = 1500;
const atMostEveryMs = 1000;

/**
 * After this much silence a stream no longer counts as one on a busy server, or as one whose replicas elect a leader:
 * in a test on three servers an election took about 7 s, and a server that restarts takes longer.
 */
const silentForMs = { alone: 5000, replicated: 60_000 } as const;

/** More than the rest of a block on any usual disk: a short message still fits when nothing else does. */
const messageBytes = 8192;
const maxStreamBytes = 65_536;

export type LogCanary = {
  /**
   * Returns when NATS has stored a message, now or within the last second. Throws, mostly Unavailable, if NATS stores
   * none.
   */
  check(): Promise<void>;
};

type CanaryConfig = Partial<StreamConfig> & { readonly name: string; readonly subjects: [string] };

/**
 * Checks that NATS really stores what it receives: a server on a full disk looks healthy and answers nothing.
 *
 * Neither the log nor the content can hold the canary. Nothing is ever removed from the log; and after a failed write
 * newer servers freeze a stream for good, even when there is room again, so the canary would cause the harm that it is
 * to warn of. It therefore has a stream of one message on the same disk. If that stream has a leader and answers
 * questions but has stored nothing for long, it counts as frozen and another one is tried. The frozen stream is removed
 * only then: the room that this frees would be enough for a canary, and for nothing else.
 */
export function createJetStreamCanary(connection: JetStreamConnection, prefix: string, replicas: number): LogCanary {
  let current = canaryConfig(prefix, replicas, 1);
  let spare = canaryConfig(prefix, replicas, 2);
  const message = new Uint8Array(messageBytes);
  const patienceMs = replicas > 1 ? silentForMs.replicated : silentForMs.alone;
  let silentSince: number | null = null;

  const publish = ({ subjects: [subject] }: CanaryConfig): Promise<unknown> =>
    connection.nats.jetstream().publish(subject, message, { timeout: answerTimeoutMs });

  const singInCurrent = async (): Promise<void> => {
    try {
      await publish(current);
    } catch (failure) {
      if (!isStreamAbsent(failure)) {
        if (isUnanswered(failure)) silentSince ??= performance.now();
        throw failure;
      }
      await ensure(connection, current);
      await publish(current);
    }
    silentSince = null;
  };
  const singInSpare = async (): Promise<void> => {
    // Whatever the result, the next try waits as long as this one did.
    silentSince = performance.now();
    await expectLeader(connection, current);
    // The other stream may still be frozen from an earlier incident.
    await remove(connection, spare);
    await ensure(connection, spare);
    await publish(spare);
    await remove(connection, current);
    [current, spare] = [spare, current];
    silentSince = null;
  };
  const sing = (): Promise<void> => {
    const isFrozen = silentSince !== null && performance.now() - silentSince >= patienceMs;
    return isFrozen ? singInSpare() : singInCurrent();
  };
  return { check: atMostOnceIn(atMostEveryMs, () => asking(connection, sing)) };
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

/** Throws if the stream does not answer, or has no leader that could store a message. */
async function expectLeader({ nats }: JetStreamConnection, { name }: CanaryConfig): Promise<void> {
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: answerTimeoutMs });
  const { cluster } = await manager.streams.info(name);
  if (cluster !== undefined && !cluster.leader) throw new Unavailable(`The stream ${name} has no leader.`);
}

/** No stream listens on the subject: it was never created, or another process is creating it again. */
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

/** A stream that is already gone is as good as removed. */
async function remove({ nats }: JetStreamConnection, { name }: CanaryConfig): Promise<void> {
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: answerTimeoutMs });
  await manager.streams.delete(name).catch((failure: unknown) => {
    if (!isStreamMissing(failure)) throw failure;
  });
}

/** Limits the rate: callers that arrive while a check is in progress, or soon after it, get the same answer. */
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
