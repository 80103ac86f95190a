import {
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from "nats";
import { asking, type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { isNameTaken, isStreamMissing } from "../nats/errors.ts";
import { streamFilter, streamName } from "./subjects.ts";

/**
 * A busy cluster takes long to place the replicas of a stream. Not longer: an answer that was lost with its connection is
 * waited for as well, and a start asks again, when what was made meanwhile is found.
 */
const creationMs = 10_000;

export type StreamSettings = {
  readonly prefix: string;
  readonly replicas: number;
  /** Size limit of the log; null leaves a stream that is there as it is, which an operator may have limited. */
  readonly maxBytes: number | null;
};

/** The stream that is there breaks a promise of the service: starting on it would be worse than not starting. */
export class UnfitStream extends Error {
  override readonly name = "UnfitStream";
}

/** What the log stands on. `deny_*` cannot be taken back, and no direct get: a replica may answer it with the past. */
const logConfig = ({ prefix, replicas, maxBytes }: StreamSettings): Partial<StreamConfig> & { name: string } => ({
  name: streamName(prefix, "JOBS"),
  subjects: [streamFilter(prefix, "JOBS")],
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.New,
  deny_delete: true,
  deny_purge: true,
  allow_direct: false,
  allow_rollup_hdrs: false,
  duplicate_window: nanosOf(120_000),
  max_age: 0,
  max_msgs: -1,
  max_msgs_per_subject: -1,
  ...(maxBytes === null ? {} : { max_bytes: maxBytes }),
  num_replicas: replicas,
});

/**
 * What is sent and to whom: one message a job, and it may be erased. Two may stand, as one that is replaced is
 * overwritten on the disk before it goes: the server would only forget where it is.
 */
const contentConfig = ({ prefix, replicas }: StreamSettings): Partial<StreamConfig> & { name: string } => ({
  name: streamName(prefix, "CONTENT"),
  subjects: [streamFilter(prefix, "CONTENT")],
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.New,
  deny_delete: false,
  deny_purge: false,
  allow_direct: false,
  max_age: 0,
  max_msgs: -1,
  max_msgs_per_subject: 2,
  num_replicas: replicas,
});

/** Addresses that are never mailed, one a subject. */
const suppressionsConfig = (settings: StreamSettings): Partial<StreamConfig> & { name: string } => ({
  ...contentConfig(settings),
  name: streamName(settings.prefix, "SUPPRESSIONS"),
  subjects: [streamFilter(settings.prefix, "SUPPRESSIONS")],
});

/** Settings that an operator may change from one start to the next; all others are promises. */
const adjustable: readonly (keyof StreamConfig)[] = ["max_bytes", "num_replicas"];

/** Creates the streams, or checks the ones that are there; throws UnfitStream with every setting that is wrong. */
export async function ensureStreams(connection: JetStreamConnection, settings: StreamSettings): Promise<void> {
  const manager = await asking(connection, () => connection.nats.jetstreamManager({ timeout: creationMs }));
  for (const config of [logConfig(settings), contentConfig(settings), suppressionsConfig(settings)]) {
    await asking(connection, () => ensureStream(manager, config));
  }
}

async function ensureStream(
  manager: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<void> {
  const found = await findStream(manager, config.name);
  if (found === null) {
    await manager.streams.add(config).catch((failure: unknown) => {
      // Another process was faster, with other adjustable settings: that one is looked at.
      if (isNameTaken(failure)) return ensureStream(manager, config);
      throw failure;
    });
    return;
  }
  const differing = (Object.keys(config) as (keyof StreamConfig)[]).filter(
    (key) => !isSame(found.config[key], config[key]),
  );
  const faults = differing
    .filter((key) => !adjustable.includes(key))
    .map((key) => `${key} is ${JSON.stringify(found.config[key])}; expected ${JSON.stringify(config[key])}`);
  if (faults.length > 0) {
    throw new UnfitStream(`The stream ${config.name} breaks a promise of the service:\n  ${faults.join("\n  ")}`);
  }
  if (differing.length > 0) await manager.streams.update(config.name, { ...found.config, ...config });
}

async function findStream(manager: JetStreamManager, name: string): Promise<StreamInfo | null> {
  try {
    return await manager.streams.info(name);
  } catch (failure) {
    if (isStreamMissing(failure)) return null;
    throw failure;
  }
}

/** Servers leave out what is false or zero. */
const isSame = (actual: unknown, expected: unknown): boolean =>
  JSON.stringify(actual ?? false) === JSON.stringify(expected) || (!actual && !expected);
