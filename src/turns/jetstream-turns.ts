import type { StreamInfo } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { type JobRef, keyOf } from "../event-log/event-log.ts";
import { ensureTurnsStream, type StreamSettings } from "../event-log/jetstream-streams.ts";
import { LogFull } from "../event-log/log-failures.ts";
import { streamFilter, streamName } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isNobodyThere, isOutOfRoom, isStreamMissing, isSubjectTaken } from "../nats/errors.ts";
import { askJetStream, messageAt } from "../nats/jetstream-api.ts";
import { encodeTurn } from "./encode-turn.ts";
import { parseTurnSubject, subjectOfTurn } from "./turn-subjects.ts";
import type { Turns } from "./turns.ts";

/** NATS 2.9 needs some seconds to name a hundred thousand subjects. */
const listingMs = 30_000;

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

  /**
   * Whether the server counts a first turn that it cannot find, as NATS 2.9 does where a stream was made while it removed the
   * files of another of that name. No worker is ever given such a turn, and its subject stays taken.
   */
  const isUnreadable = async ({ created, state: { messages, first_seq } }: StreamInfo): Promise<boolean> => {
    if (messages === 0) return false;
    if ((await messageAt(connection, stream, first_seq)) !== null) return false;
    // It may have been done just now.
    const now = await infoOf();
    return now?.created === created && now.state.messages > 0 && now.state.first_seq === first_seq;
  };

  return {
    put: (turn, place) =>
      asking(connection, async () => {
        const [subject, data] = [subjectOfTurn(prefix, { ...turn, place }), encodeTurn(turn)];
        if ((await putOnce(subject, data)) === "put") return;
        await ensureTurnsStream(connection, settings);
        if ((await putOnce(subject, data)) === "no-stream") throw new Unavailable("NATS has no stream for turns.");
      }),
    jobs: () =>
      asking(connection, async () => {
        const { streams } = await connection.nats.jetstreamManager({ checkAPI: false, timeout: listingMs });
        const found = await unlessGone(streams.info(stream, { subjects_filter: all }));
        if (found === null) return () => false;
        if (await isUnreadable(found)) {
          // They are all put again: that costs less than to find out which of them are lost.
          await unlessGone(streams.delete(stream));
          return () => false;
        }
        const subjects = Object.keys(found.state.subjects ?? {});
        const jobs = new Set(subjects.map((subject) => keyOf(parseTurnSubject(prefix, subject))));
        return (job: JobRef) => jobs.has(keyOf(job));
      }),
    madeAt: () => asking(connection, async () => (await infoOf())?.created ?? null),
  };
}

/** Null where the request fails because there is no such stream. */
async function unlessGone<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked;
  } catch (failure) {
    if (isStreamMissing(failure)) return null;
    throw failure;
  }
}
