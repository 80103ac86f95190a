import type { Subscription } from "nats";
import type { AlertEvent } from "../domain/alerts/events.ts";
import type { JobEvent } from "../domain/job/events.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { lastMessageSince } from "../nats/horizon.ts";
import type { StreamMessage } from "../nats/jetstream-api.ts";
import { readSubject } from "../nats/read-subject.ts";
import { decodeMessage } from "./decode-entry.ts";
import {
  alertsRef,
  type Channel,
  type EventLog,
  isOfJob,
  type JobRef,
  type LogEvent,
  type StoredEvent,
  UndecodableEvent,
  type UnknownEvent,
  VersionConflict,
} from "./event-log.ts";
import { followLog } from "./jetstream-follow.ts";
import { createReading } from "./jetstream-passes.ts";
import { createPublisher, type OnStored } from "./jetstream-publish.ts";
import { inOrder, isAboutRecipients, isDecision, isNotice } from "./select-events.ts";
import { channelOfEntry, streamName, subjectOf } from "./subjects.ts";

const askTimeoutMs = 1500;
/** How often the history of a job is read while decisions about it come in. */
const historyRounds = 3;

/** The log on a JetStream stream that `ensureStreams` has created or checked. */
export async function createJetStreamEventLog(
  connection: JetStreamConnection,
  prefix: string,
  onStored: OnStored = () => {},
): Promise<EventLog> {
  const stream = streamName(prefix, "JOBS");
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: askTimeoutMs });
  const publisher = createPublisher(connection, prefix, onStored);

  const { readPasses, decode, passedSince } = createReading(connection, prefix);

  /**
   * Messages that were passed by decided nothing, but NATS counts them: the append is then guarded by the sequence of
   * the last of them.
   */
  const append: EventLog["append"] = async (job, entry, expectedSequence) => {
    try {
      return await publisher.append(job, entry, expectedSequence);
    } catch (failure) {
      if (!(failure instanceof VersionConflict)) throw failure;
      const last = await passedSince(subjectOf(prefix, job, channelOfEntry(entry)), expectedSequence);
      if (last === null) throw failure;
      return await publisher.append(job, entry, last);
    }
  };

  const lastOf = (job: JobRef, channel: Channel) =>
    lastMessageSince(connection, stream, subjectOf(prefix, job, channel));
  const readAll = async (job: JobRef, channel: Channel, last?: number): Promise<readonly LogEvent[]> => {
    const reach = last ?? (await lastOf(job, channel))?.sequence ?? 0;
    const { events, failure } = await decode(
      await readSubject(connection, stream, subjectOf(prefix, job, channel), reach),
    );
    if (failure !== null) throw failure;
    return events;
  };
  const read = async (job: JobRef, channel: Channel, last?: number): Promise<StoredEvent[]> =>
    (await readAll(job, channel, last)).filter(isOfJob);

  const lastDecision = async (job: JobRef): Promise<number> => (await lastOf(job, "job"))?.sequence ?? 0;

  /**
   * Reads decisions first and facts after them: a job that is read as completed without the outcomes of its recipients
   * would look as if it had mailed nobody. It uses exact subjects and a sort, because a wildcard over them makes NATS 2.9
   * scan the whole log.
   */
  const readParts = async (job: JobRef, reach: number): Promise<StoredEvent[]> => {
    const decisions = await read(job, "job", reach);
    return [...decisions, ...(await read(job, "facts"))].sort(inOrder);
  };

  const readHistory = async (job: JobRef): Promise<StoredEvent[]> => {
    for (let round = 1; ; round += 1) {
      const reach = await lastDecision(job);
      const history = await readParts(job, reach);
      if ((await lastDecision(job)) === reach) return history;
      // New decisions arrived meanwhile, and some of their facts may be missing; everything before them is complete.
      if (round === historyRounds) return history.filter(({ sequence }) => sequence <= reach);
    }
  };

  /** Most jobs are read when their creation is the only decision, and no event can precede that. */
  const readDecisions = async (job: JobRef): Promise<StoredEvent<JobEvent>[]> => {
    const last = await lastOf(job, "job");
    if (last === null) return [];
    return onlyCreated(prefix, last) ?? (await read(job, "job", last.sequence)).filter(isDecision);
  };

  return {
    append,
    record: publisher.record,
    readDecisions,
    readRecipients: async (job) => (await readHistory(job)).filter(isAboutRecipients),
    readNotices: async (job) => (await read(job, "facts")).filter(isNotice),
    readHistory,
    lastDecision,
    onDecision: (job, decided) => listen(connection, subjectOf(prefix, job, "job"), decided),
    // The channel determines the types of events.
    readAlerts: async () => (await readAll(alertsRef, "alert")) as (StoredEvent<AlertEvent> | UnknownEvent)[],
    readPasses,
    state: () =>
      asking(connection, async () => {
        const { created, state } = await manager.streams.info(stream);
        return { createdAt: created, lastSequence: state.last_seq };
      }),
    follow: (options) => followLog(connection, stream, options, decode),
  };
}

/** Null if there are newer decisions, or if one cannot be decoded: the whole history is read then. */
function onlyCreated(prefix: string, { subject, sequence, data }: StreamMessage): StoredEvent<JobEvent>[] | null {
  try {
    const decisions = decodeMessage(prefix, subject, sequence, data).filter(isDecision);
    return decisions[0]?.event.type === "JobCreated" ? decisions : null;
  } catch (failure) {
    if (failure instanceof UndecodableEvent) return null;
    throw failure;
  }
}

/**
 * Receives what is published from the next request on. The subscription to each job is short and costs no write of its
 * own.
 */
function listen({ nats, along }: JetStreamConnection, subject: string, heard: () => void): () => void {
  let isOver = false;
  let subscription: Subscription | null = null;
  const callback = (): void => {
    if (!isOver) heard();
  };
  along(() => {
    if (!isOver && !nats.isClosed() && !nats.isDraining()) subscription = nats.subscribe(subject, { callback });
  });
  return () => {
    isOver = true;
    along(() => subscription?.unsubscribe());
  };
}
