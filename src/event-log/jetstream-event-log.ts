import type { Subscription } from "nats";
import type { AlertEvent } from "../domain/alerts/events.ts";
import { Unavailable } from "../domain/unavailable.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { lastMessageSince } from "../nats/horizon.ts";
import { askJetStream, askSlowly, messageAt, type StreamMessage } from "../nats/jetstream-api.ts";
import type { StoredMessage } from "../nats/message.ts";
import { untilInterrupted } from "../nats/patience.ts";
import { readBack, readOn } from "../nats/read-subject.ts";
import {
  alertsRef,
  type Channel,
  type EventLog,
  isOfJob,
  isOfMailing,
  isOfSchedule,
  type JobRef,
  type LogEvent,
  type LogState,
  type StoredEvent,
  type UnknownEvent,
} from "./event-log.ts";
import { followLog } from "./jetstream-follow.ts";
import { createReading, decodeOrFail } from "./jetstream-passes.ts";
import { createPublisher, type OnStored } from "./jetstream-publish.ts";
import { UndecodableEvent, VersionConflict } from "./log-failures.ts";
import { inOrder, isAboutFeedback, isAboutRecipients, isDecision, isNotice } from "./select-events.ts";
import { channelOfEntry, streamName, subjectOf } from "./subjects.ts";

/** How often the history of a job is read while decisions about it come in. */
const historyRounds = 3;
const cutRounds = 10;

/** The log on a JetStream stream that `ensureStreams` has created or checked. */
export async function createJetStreamEventLog(
  connection: JetStreamConnection,
  prefix: string,
  onStored: OnStored = () => {},
): Promise<EventLog> {
  const stream = streamName(prefix, "JOBS");
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
  const decodeAll = async (messages: readonly StoredMessage[]): Promise<readonly LogEvent[]> => {
    const { events, failure } = await decode(messages);
    if (failure !== null) throw failure;
    return events;
  };
  /** Decisions, or what else is guarded, up to `last`; from one of them on, if that is there. */
  const readUpTo = async (last: StreamMessage | null, from?: number): Promise<readonly LogEvent[]> => {
    if (last === null) return [];
    if (from !== undefined) {
      const messages = await readBack(connection, stream, last, ({ sequence }) => sequence <= from);
      if (messages[0]?.sequence === from) return await decodeAll(messages);
    }
    return await decodeAll(await readBack(connection, stream, last));
  };

  const lastDecision = async (job: JobRef): Promise<number> => (await lastOf(job, "job"))?.sequence ?? 0;

  /** Whether the log still has a message: then it had everything after it until now, because it is cut from its beginning. */
  const isThere = async ({ sequence }: StoredEvent): Promise<boolean> =>
    (await asking(connection, () => messageAt(connection, stream, sequence))) !== null;

  /**
   * Reads decisions first and facts after them: a job that is read as completed without the outcomes of its recipients
   * would look as if no one had been mailed.
   */
  const readParts = async (job: JobRef, lastDecided: StreamMessage | null): Promise<StoredEvent[]> => {
    const decisions = await readUpTo(lastDecided);
    // Before the facts: no report is read without the outcome that it is about.
    const feedback = await readUpTo(await lastOf(job, "feedback"));
    const last = await lastOf(job, "facts");
    const facts =
      last === null ? [] : await readOn(connection, stream, last.subject, firstOf(decisions), last.sequence);
    return [...decisions, ...(await decodeAll(facts)), ...feedback].filter(isOfJob).sort(inOrder);
  };

  const readHistory = async (job: JobRef): Promise<StoredEvent[]> => {
    for (let round = 1; ; round += 1) {
      const last = await lastOf(job, "job");
      const history = await readParts(job, last);
      const reach = last?.sequence ?? 0;
      const [first] = history;
      const [lastNow, isWhole] = await Promise.all([lastDecision(job), first === undefined || isThere(first)]);
      if (!isWhole) {
        // The log was cut meanwhile, and some facts may be missing. That can happen a few times, and not for ever.
        if (round < cutRounds) continue;
        throw new Unavailable("The log is being cut off where it was read.");
      }
      if (lastNow === reach) return history;
      // New decisions arrived meanwhile, and some of their facts may be missing; everything before them is complete.
      if (round >= historyRounds) return history.filter(({ sequence }) => sequence <= reach);
    }
  };

  return {
    append,
    record: publisher.record,
    readDecisions: async (job) => (await readUpTo(await lastOf(job, "job"))).filter(isDecision),
    readMailing: async (mailing, from) => (await readUpTo(await lastOf(mailing, "mailing"), from)).filter(isOfMailing),
    readSchedule: async (schedule) => {
      const last = await lastOf(schedule, "schedule");
      if (last === null) return null;
      // After it there may be messages that were passed by, or that only a newer release knows.
      const messages = await readBack(connection, stream, last, (message) => {
        const entry = decodeOrFail(prefix, message);
        return !(entry instanceof UndecodableEvent) && entry.some(isOfSchedule);
      });
      return (await decodeAll(messages)).findLast(isOfSchedule) ?? null;
    },
    readRecipients: async (job) => firstOfEach((await readHistory(job)).filter(isAboutRecipients)),
    readFeedback: async (job, from) => (await readUpTo(await lastOf(job, "feedback"), from)).filter(isAboutFeedback),
    readNotices: async (job) => (await readHistory(job)).filter(isNotice),
    readHistory,
    lastDecision,
    onDecision: (job, decided) => listen(connection, subjectOf(prefix, job, "job"), decided),
    // The channel determines the types of events.
    readAlerts: async (from) =>
      (await readUpTo(await lastOf(alertsRef, "alert"), from)) as (StoredEvent<AlertEvent> | UnknownEvent)[],
    readPasses,
    state: (until) =>
      until === undefined
        ? stateOf(connection, stream, askJetStream)
        : untilInterrupted(stateOf(connection, stream, askSlowly), until),
    follow: (options) => followLog(connection, stream, options, decode),
  };
}

/**
 * A fact whose answer was lost in an outage of more than two minutes is stored once more, perhaps behind what others did
 * meanwhile: a claim that was released by then would be released, and its mail sent, again.
 */
function firstOfEach<Event extends StoredEvent>(events: readonly Event[]): readonly Event[] {
  const known = new Set<string>();
  return events.filter(({ id }) => !known.has(id) && known.add(id));
}

/**
 * Where a job begins in the log. Of one whose creation was cut off, facts may stand before the first decision that is left.
 */
const firstOf = ([first]: readonly LogEvent[]): number =>
  first !== undefined && "event" in first && first.event.type === "JobCreated" ? first.sequence : 1;

const stateOf = (connection: JetStreamConnection, stream: string, ask: typeof askSlowly): Promise<LogState> =>
  asking(connection, async () => {
    const { created, state, config } = await ask<StreamFacts>(connection, `$JS.API.STREAM.INFO.${stream}`, "");
    return { createdAt: created, lastSequence: state.last_seq, mayLag: config.num_replicas !== 1 };
  });

type StreamFacts = {
  readonly created: string;
  readonly state: { readonly last_seq: number };
  readonly config: { readonly num_replicas: number };
};

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
