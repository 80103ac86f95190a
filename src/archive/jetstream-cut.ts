import { setTimeout as pause } from "node:timers/promises";
import type { JetStreamManager, StreamConfig } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import {
  isShut,
  type LimitsInHand,
  LimitsTaken,
  managerOfLimits,
  openShutLog,
  takeLimits,
  untilAnswered,
} from "../event-log/jetstream-log-limits.ts";
import { streamName } from "../event-log/subjects.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { createReader, deleteReader } from "../nats/consumers.ts";
import type { CutStep } from "./stored-log.ts";

/**
 * Cuts entries off the beginning of the log, though `deny_delete` and `deny_purge` stay on: the stream itself drops the
 * oldest messages once it holds more than `max_msgs`. That cuts by count, and so exactly. An age limit does not: NATS
 * 2.9.10 and 2.15.1 apply it at once and go on cutting as time passes, a thousand messages a second later in a log of a
 * thousand a second, and refuse one that is shorter than the window for duplicates.
 *
 * A limit by count is harmless only while nothing is appended, because each new message would drop an old one. So the
 * stream is first shut. A process that dies in between leaves a log that takes nothing more and loses nothing; every
 * process of the service looks for that and opens it, as jetstream-log-limits.ts says. Publishers wait for as long as a
 * step takes.
 *
 * A log with replicas is not cut. A replica stores what its leader has acknowledged a moment later, and one that learns of
 * the size limit in between drops the message: in three of five runs on NATS 2.9.10 a replica lacked an acknowledged entry.
 */

/** The stream is not what was archived; nothing more is cut. */
export class CutRefused extends Error {
  override readonly name = "CutRefused";
}

/** Longer than publishers wait before they ask again: without a rest, some found the log shut for 1.5 s. */
const restMs = 150;
/** A shut stream is opened again before others take the process that shut it for dead. */
const shutAtMostMs = 2_000;

/** Cuts up to the last step, one after the other. Steps that an earlier process made are passed over. */
export async function cutBeginning(
  connection: JetStreamConnection,
  prefix: string,
  steps: readonly CutStep[],
): Promise<void> {
  const stream = streamName(prefix, "JOBS");
  const manager = await managerOfLimits(connection);
  await openShutLog(connection, stream);
  const { config, state } = await untilAnswered(() => manager.streams.info(stream));
  refuseReplicas(config);
  const left = steps.filter(({ to }) => to >= state.first_seq);
  if (left.length === 0) return;
  try {
    const limits = await takeLimits(manager, stream);
    try {
      for (const step of left) await cutStep(connection, manager, stream, limits, step);
    } finally {
      await limits.release();
    }
  } catch (failure) {
    if (!(failure instanceof LimitsTaken)) {
      await openShutLog(connection, stream, 0);
      throw failure;
    }
    throw new CutRefused("Another process has opened the log, or cuts it: run the command again.", { cause: failure });
  }
}

/** Throws CutRefused. */
export function refuseReplicas({ num_replicas: replicas }: Pick<StreamConfig, "num_replicas">): void {
  if (replicas > 1) {
    throw new CutRefused(`The log has ${replicas} replicas, and only a log on one server can be archived.`);
  }
}

async function cutStep(
  connection: JetStreamConnection,
  manager: JetStreamManager,
  stream: string,
  limits: LimitsInHand,
  { to, count }: CutStep,
): Promise<void> {
  const shutAt = performance.now();
  await limits.shut();
  const left = await countAfter(connection, stream, to);
  const { config, state } = await manager.streams.info(stream);
  const fault = faultOf(config, state, count, left);
  if (fault !== null) throw new CutRefused(`The log is not cut at ${to}: ${fault}.`);
  if (performance.now() - shutAt > shutAtMostMs) throw new Unavailable("NATS is too slow to cut the log now.");
  await limits.keepLast(left);
  const { first_seq: first, last_seq: last } = (await untilAnswered(() => manager.streams.info(stream))).state;
  await limits.open();
  // Nothing of this service does that: see jetstream-log-limits.ts.
  if (last > state.last_seq) {
    throw new CutRefused(
      `The log was opened while it was cut at ${to}: it lost ${last - state.last_seq} more entries.`,
    );
  }
  if (first <= to) throw new CutRefused(`NATS did not cut the log at ${to}: it begins at ${first}.`);
  await pause(restMs);
}

type Size = { readonly messages: number; readonly bytes: number };

/** The count of the stream and that of the archive agree, or the cut could take an entry that is in no file. */
function faultOf(config: StreamConfig, { messages, bytes }: Size, count: number, left: number): string | null {
  if (!isShut(config)) return "another process has opened it meanwhile";
  // The old policy for a moment would also drop what is over this limit.
  if (config.max_bytes > 0 && bytes > config.max_bytes) {
    return `it holds ${bytes} bytes, more than its limit of ${config.max_bytes}: raise that first`;
  }
  const found = messages - left;
  if (found !== count) return `it holds ${found} entries before that place, and the archive ${count}`;
  return left < 1 ? "nothing would be left" : null;
}

async function countAfter(connection: JetStreamConnection, stream: string, sequence: number): Promise<number> {
  const reader = await createReader(connection, stream, sequence);
  await deleteReader(connection, stream, reader);
  return reader.pending;
}
