import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { DiscardPolicy, type JetStreamManager, type StreamConfig } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { createReader, deleteReader } from "../nats/consumers.ts";
import { isUnanswered } from "../nats/outages.ts";
import { streamName } from "./subjects.ts";

/**
 * Cuts entries off the beginning of the log, though `deny_delete` and `deny_purge` stay on: the stream itself drops the
 * oldest messages once it holds more than `max_msgs`. That cuts by count, and so exactly. An age limit does not: NATS
 * 2.9.10 and 2.15.1 apply it at once and go on cutting as time passes, a thousand messages a second later in a log of a
 * thousand a second, and refuse one that is shorter than the window for duplicates.
 *
 * A limit by count is harmless only while nothing is appended, because each new message would drop an old one. So the
 * stream is first shut, by a size limit that no entry meets. A process that dies in between leaves a log that takes
 * nothing more and loses nothing; the next process that starts opens it. Publishers wait for as long as a step takes.
 *
 * A log with replicas is not cut. A replica stores what its leader has acknowledged a moment later, and one that learns of
 * the size limit in between drops the message: in three of five runs on NATS 2.9.10 a replica lacked an acknowledged entry.
 *
 * The limit may reach the server late: its process stood still, or lost its connection, and another one has opened the log
 * meanwhile. It would then take as many entries too many as were appended. NATS has no compare-and-set for the settings of
 * a stream, but it refuses a subject that another stream has. So a shut log has one subject more, of this step alone, the
 * limit is set together with it, and another process that opens the log first gives that subject away.
 */

/** Entries up to `to`, of which the stream still holds exactly `count`. */
export type CutStep = { readonly to: number; readonly count: number };

/** The stream is not what was archived; nothing more is cut. */
export class CutRefused extends Error {
  override readonly name = "CutRefused";
}

/** No entry is that short, and the server takes 0 for no limit. */
const shutSize = 1;

const open = { max_msg_size: -1, max_msgs: -1, discard: DiscardPolicy.New } as const;

const requestMs = 10_000;
const answerWithinMs = 60_000;
const retryAfterMs = 250;
/** Longer than publishers wait before they ask again: without a rest, some found the log shut for 1.5 s. */
const restMs = 150;
/** A shut stream is opened again before others take the process that shut it for dead. */
const shutAtMostMs = 2_000;
const believedDeadAfterMs = 8_000;

export const isShut = ({ max_msg_size }: Pick<StreamConfig, "max_msg_size">): boolean => max_msg_size === shutSize;

/** Cuts up to the last step, one after the other. Steps that an earlier process made are passed over. */
export async function cutBeginning(
  connection: JetStreamConnection,
  prefix: string,
  steps: readonly CutStep[],
): Promise<void> {
  const stream = streamName(prefix, "JOBS");
  const manager = await managerOf(connection);
  await openAfterCut(connection, stream);
  for (const step of steps) {
    await cutStep(connection, manager, stream, step);
    await pause(restMs);
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
  { to, count }: CutStep,
): Promise<void> {
  const { config, state } = await untilAnswered(() => manager.streams.info(stream));
  if (state.first_seq > to) return;
  refuseReplicas(config);
  // The old policy for a moment would also drop what is over this limit.
  if (config.max_bytes > 0 && state.bytes > config.max_bytes) {
    throw new CutRefused(
      `The log holds ${state.bytes} bytes, more than its limit of ${config.max_bytes}: raise it first.`,
    );
  }
  const shutAt = performance.now();
  const shut = { subjects: [...lastingSubjects(config), `${stepsOf(stream)}${randomUUID()}`], max_msg_size: shutSize };
  await untilAnswered(() => manager.streams.update(stream, { ...config, ...shut }));
  try {
    const left = await countAfter(connection, stream, to);
    const now = await untilAnswered(() => manager.streams.info(stream));
    const fault = faultOf(now.config, now.state.messages - left, count, left);
    if (fault !== null) throw new CutRefused(`The log is not cut at ${to}: ${fault}.`);
    if (performance.now() - shutAt > shutAtMostMs) throw new Unavailable("NATS is too slow to cut the log now.");
    const limit = { ...now.config, ...shut, max_msgs: left, discard: DiscardPolicy.Old };
    await untilAnswered(() => manager.streams.update(stream, limit));
    await openStream(manager, stream);
  } catch (failure) {
    await openForGood(manager, stream);
    throw failure;
  }
  const { first_seq: first } = (await untilAnswered(() => manager.streams.info(stream))).state;
  if (first <= to) throw new CutRefused(`NATS did not cut the log at ${to}: it begins at ${first}.`);
}

/** The count of the stream and that of the archive agree, or the cut could take an entry that is in no file. */
function faultOf(config: StreamConfig, found: number, count: number, left: number): string | null {
  if (!isShut(config)) return "another process has opened it meanwhile";
  if (found !== count) return `it holds ${found} entries before that place, and the archive ${count}`;
  return left < 1 ? "nothing would be left" : null;
}

async function countAfter(connection: JetStreamConnection, stream: string, sequence: number): Promise<number> {
  const reader = await createReader(connection, stream, sequence);
  await deleteReader(connection, stream, reader);
  return reader.pending;
}

/**
 * Takes back the limits of a cut whose process has died. One that is at work is given the time to take them back itself.
 */
export async function openAfterCut(
  connection: JetStreamConnection,
  stream: string,
  patienceMs = believedDeadAfterMs,
): Promise<void> {
  const manager = await managerOf(connection);
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { config } = await untilAnswered(() => manager.streams.info(stream));
    if (!isShut(config)) return;
    if (performance.now() >= deadline) return await openForGood(manager, stream);
    await pause(retryAfterMs);
  }
}

async function openStream(manager: JetStreamManager, stream: string): Promise<void> {
  const { config } = await untilAnswered(() => manager.streams.info(stream));
  const subjects = lastingSubjects(config);
  await untilAnswered(() => manager.streams.update(stream, { ...config, subjects, ...open }));
}

/** Opens the stream so that the limit of this step, should it still be on its way, is refused. */
async function openForGood(manager: JetStreamManager, stream: string): Promise<void> {
  const { config } = await untilAnswered(() => manager.streams.info(stream));
  const subjects = lastingSubjects(config);
  // Still shut: a limit that arrives now takes what it was meant to take.
  await untilAnswered(() => manager.streams.update(stream, { ...config, subjects }));
  for (const step of config.subjects.filter((subject) => !subjects.includes(subject))) {
    const name = `${stream}_${step.slice(stepsOf(stream).length)}`;
    const refusing = { name, subjects: [step], max_msgs: 1, num_replicas: config.num_replicas };
    await untilAnswered(() => manager.streams.add(refusing));
  }
  await openStream(manager, stream);
}

/** The start of the subjects that a shut stream has besides its own. */
const stepsOf = (stream: string): string => `${stream}.cut.`;

const lastingSubjects = ({ name, subjects }: StreamConfig): string[] =>
  subjects.filter((subject) => !subject.startsWith(stepsOf(name)));

const managerOf = (connection: JetStreamConnection): Promise<JetStreamManager> =>
  asking(connection, () => connection.nats.jetstreamManager({ checkAPI: false, timeout: requestMs }));

/** A limit whose answer was lost may be applied late, so it is set again until an answer comes; twice is as once. */
async function untilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const deadline = performance.now() + answerWithinMs;
  for (;;) {
    try {
      return await ask();
    } catch (failure) {
      if (!isUnanswered(failure)) throw failure;
      if (performance.now() >= deadline) throw new Unavailable("NATS did not answer.", { cause: failure });
      await pause(retryAfterMs);
    }
  }
}
