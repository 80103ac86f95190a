import { setTimeout as pause } from "node:timers/promises";
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
import { askSlowly } from "../nats/jetstream-api.ts";
import { isShut, type LogSize, openShutLog, resizeLog, subjectsOfEntries } from "./jetstream-log-limits.ts";
import { type StreamKind, streamFilter, streamName } from "./subjects.ts";

/**
 * A busy cluster takes long to place the replicas of a stream. The wait is no longer than this, because it also applies
 * to an answer that was lost with its connection; the caller asks again and finds what was created meanwhile.
 */
const creationMs = 10_000;

export type StreamSettings = {
  readonly prefix: string;
  /** Null leaves existing streams as they are, and makes others with one. */
  readonly replicas: number | null;
  /**
   * Size limit of the log; null leaves the limit of an existing stream as it is, because an operator may have set it.
   */
  readonly maxBytes: number | null;
};

/** An existing stream breaks a promise of the service: to start on it would be worse than not to start. */
export class UnfitStream extends Error {
  override readonly name = "UnfitStream";
}

type NamedConfig = Partial<StreamConfig> & { readonly name: string };

const commonConfig = (stream: StreamKind, { prefix, replicas }: Pick<StreamSettings, "prefix" | "replicas">) => ({
  name: streamName(prefix, stream),
  subjects: [streamFilter(prefix, stream)],
  storage: StorageType.File,
  discard: DiscardPolicy.New,
  ...(replicas === null ? {} : { num_replicas: replicas }),
});

/** What is kept until the service removes it. Direct get is off: a replica may answer it with stale data. */
const keptConfig = (stream: StreamKind, settings: StreamSettings) => ({
  ...commonConfig(stream, settings),
  retention: RetentionPolicy.Limits,
  allow_direct: false,
  max_age: 0,
  max_msgs: -1,
});

/** The guarantees of the log. `deny_*` cannot be revoked. */
const logConfig = (settings: StreamSettings): NamedConfig => ({
  ...keptConfig("JOBS", settings),
  deny_delete: true,
  deny_purge: true,
  allow_rollup_hdrs: false,
  duplicate_window: nanosOf(120_000),
  max_msg_size: -1,
  max_msgs_per_subject: -1,
  ...(settings.maxBytes === null ? {} : { max_bytes: settings.maxBytes }),
});

/**
 * Content and recipients, one message for each job; addresses that are never mailed, one for each subject. They may be
 * erased. A subject may hold two messages, because a replaced message is overwritten on the disk before it is removed: the
 * server alone would only unlink it.
 */
const erasableConfig = (stream: "CONTENT" | "SUPPRESSIONS", settings: StreamSettings): NamedConfig => ({
  ...keptConfig(stream, settings),
  // Asked for in this way of a single server alone, which has no replicas.
  allow_direct: stream === "CONTENT",
  deny_delete: false,
  deny_purge: false,
  max_msgs_per_subject: 2,
});

/**
 * The turns that wait for a worker or are held by one. Each turn has a subject of its own, so the server refuses one that
 * is already there. The stream may be lost: the scheduler puts back what is missing.
 */
const turnsConfig = (settings: Pick<StreamSettings, "prefix" | "replicas">): NamedConfig => ({
  ...commonConfig("TURNS", settings),
  retention: RetentionPolicy.Workqueue,
  discard_new_per_subject: true,
  max_msgs_per_subject: 1,
});

/** Settings that an operator may change between two starts; all others are promises. Direct answers may be allowed later. */
const isAdjustable = (key: keyof StreamConfig, expected: NamedConfig): boolean =>
  key === "max_bytes" || key === "num_replicas" || (key === "allow_direct" && expected.allow_direct === true);

/** Creates the streams, or checks the existing ones; throws UnfitStream with every setting that is wrong. */
export async function ensureStreams(connection: JetStreamConnection, settings: StreamSettings): Promise<void> {
  const erasable = (["CONTENT", "SUPPRESSIONS"] as const).map((stream) => erasableConfig(stream, settings));
  for (const config of [logConfig(settings), ...erasable, turnsConfig(settings)]) await ensure(connection, config);
}

/**
 * NATS 2.9 says that a stream is gone before it has removed its files. It would remove those of a stream that is made
 * meanwhile, too, and whatever that one stores is counted and cannot be read.
 */
const filesGoneAfterMs = 1_000;

/** Creates the stream of turns again, if someone has deleted it. */
export async function ensureTurnsStream(
  connection: JetStreamConnection,
  settings: Pick<StreamSettings, "prefix" | "replicas">,
): Promise<void> {
  const config = turnsConfig(settings);
  if ((await findStream(connection, config.name)) === null) await pause(filesGoneAfterMs);
  await ensure(connection, config);
}

async function ensure(connection: JetStreamConnection, config: NamedConfig) {
  const found = await findStream(connection, config.name);
  if (found === null) return await create(connection, config);
  // A process died while it cut off the beginning of the log, or is at it.
  if (!isShut(found.config)) return await checkAndAdjust(connection, found, config);
  await openShutLog(connection, config.name);
  await ensure(connection, config);
}

async function create(connection: JetStreamConnection, config: NamedConfig): Promise<void> {
  try {
    await manage(connection, ({ streams }) => streams.add(config));
  } catch (failure) {
    if (!isNameTaken(failure)) throw failure;
    // Another process created it first, with other adjustable settings: the stream that exists is checked.
    await ensure(connection, config);
  }
}

/** Throws UnfitStream where the stream differs in what no operator may change; changes what one may. */
async function checkAndAdjust(connection: JetStreamConnection, found: StreamInfo, config: NamedConfig): Promise<void> {
  const actual = { ...found.config, subjects: subjectsOfEntries(found.config) };
  const differing = (Object.keys(config) as (keyof StreamConfig)[]).filter((key) => !isSame(actual[key], config[key]));
  const faults = differing
    .filter((key) => !isAdjustable(key, config))
    .map((key) => `${key} is ${JSON.stringify(found.config[key])}; expected ${JSON.stringify(config[key])}`);
  if (faults.length > 0) {
    throw new UnfitStream(`The stream ${config.name} breaks a promise of the service:\n  ${faults.join("\n  ")}`);
  }
  // NATS 2.9 drops the oldest messages where the limit is lowered, whatever the stream does when it is full.
  if (differing.includes("max_bytes") && (config.max_bytes ?? 0) < found.state.bytes) {
    throw new UnfitStream(
      `The stream ${config.name} holds ${found.state.bytes} bytes; expected a limit of at least that, not ${config.max_bytes}.`,
    );
  }
  if (differing.length === 0) return;
  if (config.deny_purge) return await resizeLog(connection, config.name, sizeOf(config));
  const changed = { ...found.config, ...config, subjects: found.config.subjects };
  await manage(connection, ({ streams }) => streams.update(config.name, changed));
}

const sizeOf = ({ max_bytes, num_replicas }: NamedConfig): LogSize => ({
  ...(max_bytes === undefined ? {} : { max_bytes }),
  ...(num_replicas === undefined ? {} : { num_replicas }),
});

const manage = (
  connection: JetStreamConnection,
  act: (manager: JetStreamManager) => Promise<StreamInfo>,
): Promise<StreamInfo> =>
  asking(connection, async () => act(await connection.nats.jetstreamManager({ checkAPI: false, timeout: creationMs })));

async function findStream(connection: JetStreamConnection, name: string): Promise<StreamInfo | null> {
  try {
    return await askSlowly<StreamInfo>(connection, `$JS.API.STREAM.INFO.${name}`, "");
  } catch (failure) {
    if (isStreamMissing(failure)) return null;
    throw failure;
  }
}

/** Servers omit values that are false or zero. */
const isSame = (actual: unknown, expected: unknown): boolean =>
  JSON.stringify(actual ?? false) === JSON.stringify(expected) || (!actual && !expected);
