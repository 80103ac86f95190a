import { setTimeout as pause } from "node:timers/promises";
import type { ConsumerInfo, StreamInfo } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { type JobRef, keyOf } from "../event-log/event-log.ts";
import { ensureTurnsStream, type StreamSettings } from "../event-log/jetstream-streams.ts";
import { LogFull } from "../event-log/log-failures.ts";
import { streamFilter, streamName } from "../event-log/subjects.ts";
import { asking, isClustered, type JetStreamConnection } from "../nats/connection.ts";
import { isNobodyThere, isOutOfRoom, isStreamMissing, isSubjectTaken } from "../nats/errors.ts";
import { askJetStream, askSlowly, messageAt, type StreamMessage } from "../nats/jetstream-api.ts";
import { encodeTurn } from "./encode-turn.ts";
import { parseTurnSubject, subjectOfTurn } from "./turn-subjects.ts";
import type { Turns } from "./turns.ts";

/** NATS 2.9 needs some seconds to name a hundred thousand subjects. */
const listingMs = 30_000;
/** What is wrong with the queue for longer than this stays wrong: a turn may be acknowledged and not be removed yet. */
const settledAfterMs = 1_000;

/** The turns on a work queue of JetStream that `ensureStreams` has created, and that is made again if it was deleted. */
export function createJetStreamTurns(
  connection: JetStreamConnection,
  settings: Pick<StreamSettings, "prefix" | "replicas">,
): Turns {
  const { prefix } = settings;
  const stream = streamName(prefix, "TURNS");
  const all = streamFilter(prefix, "TURNS");

  const putOnce = async (subject: string, data: string): Promise<"put" | "no-stream"> => {
    try {
      await askJetStream(connection, subject, data);
    } catch (failure) {
      if (isNobodyThere(failure)) return "no-stream";
      if (isOutOfRoom(failure) && !isSubjectTaken(failure)) {
        throw new LogFull("NATS has no room for turns.", { cause: failure });
      }
      if (!isSubjectTaken(failure)) throw failure;
    }
    return "put";
  };

  const infoOf = (): Promise<StreamInfo | null> =>
    unlessGone(askJetStream<StreamInfo>(connection, `$JS.API.STREAM.INFO.${stream}`, ""));

  const manage = () => connection.nats.jetstreamManager({ checkAPI: false, timeout: listingMs });
  /** A page of the answer has more than there are lanes. */
  const lanesNow = (): Promise<{ readonly consumers: readonly ConsumerInfo[] } | null> =>
    unlessGone(askSlowly(connection, `$JS.API.CONSUMER.LIST.${stream}`, ""));

  /**
   * What keeps turns from all workers, now or once they are put, while their subjects stay taken; null for nothing:
   *
   * - After a power cut the stream may end before the positions of its consumers, up to NATS 2.12: what is put next gets
   *   numbers that they have passed.
   * - After a crash NATS 2.9 may have turns again that were acknowledged. Each comes to be the first, once those before it are
   *   done, and so does one in the gap above.
   * - NATS 2.9 counts a first turn that it cannot find where a stream was made while it removed the files of another of that
   *   name.
   */
  const faultNow = async (): Promise<string | null> => {
    // Before the stream: it does not end before a position from then.
    const found = await lanesNow();
    const info = await infoOf();
    if (found === null || info === null) return null;
    const lanes = found.consumers;
    const { messages, first_seq, last_seq } = info.state;
    if (lanes.some(({ delivered }) => delivered.stream_seq > last_seq)) return `${info.created} ends too early`;
    if (messages === 0) return null;
    const first = await messageAt(connection, stream, first_seq);
    const isPassed = first === null || lanes.some((lane) => hasDone(lane, first));
    return isPassed ? `${info.created} keeps ${first_seq}` : null;
  };

  /** All are put again then: that costs less than to find out which of them are lost. */
  const dropIfFaulty = async (): Promise<boolean> => {
    const fault = await faultNow();
    if (fault === null) return false;
    await pause(settledAfterMs);
    if ((await faultNow()) !== fault) return false;
    const { streams } = await manage();
    await unlessGone(streams.delete(stream));
    return true;
  };

  /** Null at the start, and after the server was away: it may have crashed. */
  let looked: Promise<unknown> | null = null;
  connection.onReconnect(() => {
    looked = null;
  });
  const lookFirst = async (): Promise<void> => {
    looked ??= dropIfFaulty();
    const looking = looked;
    try {
      await looking;
    } catch (failure) {
      if (looked === looking) looked = null;
      throw failure;
    }
  };

  return {
    put: (turn, place) =>
      asking(connection, async () => {
        // What is put into a gap is found only once all before it is done. In a cluster the others have what one node lost, and
        // to list the lanes takes seconds while a node is away.
        if (!isClustered(connection)) await lookFirst();
        const [subject, data] = [subjectOfTurn(prefix, { ...turn, place }), encodeTurn(turn)];
        if ((await putOnce(subject, data)) === "put") return;
        await ensureTurnsStream(connection, settings);
        if ((await putOnce(subject, data)) === "no-stream") throw new Unavailable("NATS has no stream for turns.");
      }),
    jobs: () =>
      asking(connection, async () => {
        if (await dropIfFaulty()) return () => false;
        const { streams } = await manage();
        const found = await unlessGone(streams.info(stream, { subjects_filter: all }));
        if (found === null) return () => false;
        const subjects = Object.keys(found.state.subjects ?? {});
        const jobs = new Set(subjects.map((subject) => keyOf(parseTurnSubject(prefix, subject))));
        return (job: JobRef) => jobs.has(keyOf(job));
      }),
    madeAt: () =>
      asking(connection, async () => {
        await lookFirst();
        return (await infoOf())?.created ?? null;
      }),
  };
}

/** Whether the consumer of its lane counts the turn among those that are acknowledged. */
const hasDone = ({ config, ack_floor }: ConsumerInfo, { subject, sequence }: StreamMessage): boolean =>
  subject.startsWith((config.filter_subject ?? "").slice(0, -1)) && ack_floor.stream_seq >= sequence;

/** Null where the request fails because there is no such stream. */
async function unlessGone<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked;
  } catch (failure) {
    if (isStreamMissing(failure)) return null;
    throw failure;
  }
}
