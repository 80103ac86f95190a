import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { asking, isUnanswered, type JetStreamConnection } from "../nats/connection.ts";
import { isStreamMissing } from "../nats/errors.ts";
import { streamFilter, streamName } from "./subjects.ts";

const answerTimeoutMs = 1500;
const atMostEveryMs = 1000;

/**
 * A stream that has been silent for so long is no longer taken for one of a busy server, or for one whose replicas elect
 * a leader: an election was over after some 7 s in a test on three servers, and a server that starts again takes longer.
 */
const silentForMs = { alone: 5000, replicated: 60_000 } as const;

/** More than the rest of a block on any usual disk: a short message still fits where nothing else does. */
const messageBytes = 8192;
const maxStreamBytes = 65_536;

export type LogCanary = {
  /** Returns when NATS has stored a message, now or within the last second; throws where it does not, mostly Unavailable. */
  check(): Promise<void>;
};

type CanaryConfig = Partial<StreamConfig> & { readonly name: string; readonly subjects: [string] };

/**
 * Finds out whether NATS stores what it is given: a server on a full disk looks healthy and answers nothing.
 *
 * Neither the log nor the content can hold the canary. From the log nothing is ever removed; and newer servers freeze
 * a stream for good whose write failed, also when there is room again, so that a canary would do the harm it is to warn
 * of. So it has a stream of one message on the same disk. Where that one has a leader and answers questions, and has
 * stored nothing for long, it is taken for frozen and another one is tried. The frozen one is removed only then: what that
 * frees would be room enough for a canary, and for nothing else.
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
    // Whatever comes of it, the next try is as far away as this one was.
    silentSince = performance.now();
    await expectLeader(connection, current);
    // It may be frozen as well, from the last time.
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

/** Throws where the stream does not answer, or has no leader that could store anything. */
async function expectLeader({ nats }: JetStreamConnection, { name }: CanaryConfig): Promise<void> {
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: answerTimeoutMs });
  const { cluster } = await manager.streams.info(name);
  if (cluster !== undefined && !cluster.leader) throw new Unavailable(`The stream ${name} has no leader.`);
}

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
