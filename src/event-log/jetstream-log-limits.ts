import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { DiscardPolicy, type JetStreamManager, type StreamConfig } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isNameTaken, isOverlapping, isStreamMissing } from "../nats/errors.ts";
import { isUnanswered } from "../nats/outages.ts";

/**
 * The limits of the log change while its beginning is cut off (src/archive/jetstream-cut.ts): it is shut, by a size limit
 * that no entry meets, then a limit by count cuts it, and then it is open again. They also change where a service starts with
 * another size of the log. Several processes may change them at the same time: the one that cuts, one that starts, and every
 * process of the service that finds the log shut and takes the one that shut it for dead. Any of their updates may reach the
 * server late, because a process stood still or lost its connection. A limit by count that applies to an open log would drop
 * as many entries too many as were appended meanwhile.
 *
 * NATS has no compare-and-set for the settings of a stream, but it refuses a subject that another stream has. So each
 * process that changes the limits has a fence: a subject of its own, which every update of its carries, and a small stream
 * by which others see it. Before it does more than shut the log, it gives each of these streams the fence of its process:
 * from then on NATS refuses all updates of that process, the late ones too. A process that begins after that does the same
 * to this one. Of several at a time, all may be refused; they try again.
 */
type Limits = Pick<StreamConfig, "max_msg_size" | "max_msgs" | "discard">;

/** No entry is that short, and the server takes 0 for no limit. */
const shutSize = 1;
const open: Limits = { max_msg_size: -1, max_msgs: -1, discard: DiscardPolicy.New };
const shut: Limits = { ...open, max_msg_size: shutSize };

const requestMs = 10_000;
const answerWithinMs = 60_000;
const retryAfterMs = 250;
/** Longer than a cut keeps the log shut. */
const believedDeadAfterMs = 5_000;
/** The processes of a service find the log shut at the same time. */
const jitterMs = 1_000;

/** Another process has changed the limits, or does so at the same time. */
export class LimitsTaken extends Error {
  override readonly name = "LimitsTaken";
}

/** What an operator may change between two starts. */
export type LogSize = Partial<Pick<StreamConfig, "max_bytes" | "num_replicas">>;

/** The right to change the limits. Every method throws LimitsTaken once another process has taken it. */
export type LimitsInHand = {
  shut(): Promise<void>;
  /** Keeps so many of the last entries; the log is shut, and stays so. */
  keepLast(count: number): Promise<void>;
  open(size?: LogSize): Promise<void>;
  /** Call it last. */
  release(): Promise<void>;
};

export const isShut = ({ max_msg_size }: Pick<StreamConfig, "max_msg_size">): boolean => max_msg_size === shutSize;

/** The start of the fences. */
const fencesOf = (stream: string): string => `${stream}.cut.`;

/** The subjects of entries. An open log also has the fence of the process that opened it last. */
export const subjectsOfEntries = ({ name, subjects }: Pick<StreamConfig, "name" | "subjects">): string[] =>
  subjects.filter((subject) => !subject.startsWith(fencesOf(name)));

export const managerOfLimits = (connection: JetStreamConnection): Promise<JetStreamManager> =>
  asking(connection, () => connection.nats.jetstreamManager({ checkAPI: false, timeout: requestMs }));

/** Shuts the log, and leaves every other process without a way to change its limits. Throws LimitsTaken. */
export async function takeLimits(manager: JetStreamManager, stream: string): Promise<LimitsInHand> {
  const id = randomUUID();
  const fence = `${fencesOf(stream)}${id}`;
  let isUncertain = false;
  const set = async (limits: Limits & LogSize): Promise<void> => {
    try {
      const { config } = await manager.streams.info(stream);
      await manager.streams.update(stream, { ...config, ...limits, subjects: [...subjectsOfEntries(config), fence] });
    } catch (failure) {
      if (isOverlapping(failure)) throw new LimitsTaken("Another process changes the limits.", { cause: failure });
      // It may still be applied.
      isUncertain = true;
      throw failure;
    }
  };
  const { config } = await manager.streams.info(stream);
  const own = { name: `${stream}_${id}`, subjects: [`${fence}.begun`], max_msgs: 1, num_replicas: config.num_replicas };
  await manager.streams.add(own);
  const release = async (): Promise<void> => {
    // Others have to be able to fence off what is still on its way.
    if (isUncertain) return;
    await manager.streams.delete(own.name).catch(() => {});
  };
  try {
    await set(shut);
    await fenceOffOthers(manager, stream, own.name, () => set(shut));
  } catch (failure) {
    await release();
    throw failure;
  }
  return {
    shut: () => set(shut),
    keepLast: (count) => set({ ...shut, max_msgs: count, discard: DiscardPolicy.Old }),
    open: (size) => set({ ...open, ...size }),
    release,
  };
}

const triesAtMost = 20;

async function fenceOffOthers(
  manager: JetStreamManager,
  stream: string,
  own: string,
  shutAgain: () => Promise<void>,
): Promise<void> {
  for await (const { config } of manager.streams.list(`${fencesOf(stream)}>`)) {
    const { name, subjects } = config;
    if (name === stream || name === own || subjects.length > 1) continue;
    const fence = `${fencesOf(stream)}${name.slice(stream.length + 1)}`;
    for (let tries = 1; ; tries += 1) {
      try {
        await manager.streams.update(name, { ...config, subjects: [...subjects, fence] });
        break;
      } catch (failure) {
        // It has released the limits: nothing of its is on its way.
        if (isStreamMissing(failure)) break;
        if (!isOverlapping(failure)) throw failure;
        if (tries === triesAtMost) throw new LimitsTaken("Another process changes the limits.", { cause: failure });
        // An update of its has put its fence back.
        await shutAgain();
      }
    }
  }
}

/**
 * Opens a log whose process has died while it was shut. One that is at work is given the time to open it itself. Returns
 * whether the log was opened here.
 */
export async function openShutLog(
  connection: JetStreamConnection,
  stream: string,
  patienceMs = believedDeadAfterMs,
): Promise<boolean> {
  const manager = await managerOfLimits(connection);
  const isOpen = async (): Promise<boolean> =>
    !isShut((await untilAnswered(() => manager.streams.info(stream))).config);
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    if (await isOpen()) return false;
    await pause(retryAfterMs);
  }
  return await untilTaken(async () => {
    await pause(randomInt(patienceMs === 0 ? 1 : jitterMs));
    if (await isOpen()) return false;
    await openNow(manager, stream);
    return true;
  });
}

/**
 * Changes the size of the log, under the fence: a late update of a process that saw the log open would open one that is being
 * cut. A process that cuts it meanwhile is refused, and its log is open.
 */
export async function resizeLog(connection: JetStreamConnection, stream: string, size: LogSize): Promise<void> {
  const manager = await managerOfLimits(connection);
  await untilTaken(() => openNow(manager, stream, size));
}

/** Tries again while another process has the limits. */
async function untilTaken<Result>(act: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + answerWithinMs;
  for (;;) {
    try {
      return await act();
    } catch (failure) {
      const isPassing = failure instanceof LimitsTaken || isUnanswered(failure) || isNameTaken(failure);
      if (!isPassing) throw failure;
      if (performance.now() >= until) throw new Unavailable("The log could not be opened.", { cause: failure });
      await pause(randomInt(jitterMs));
    }
  }
}

async function openNow(manager: JetStreamManager, stream: string, size: LogSize = {}): Promise<void> {
  const limits = await takeLimits(manager, stream);
  try {
    await limits.open(size);
  } finally {
    await limits.release();
  }
}

/** Asks again until an answer comes. */
export async function untilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
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
