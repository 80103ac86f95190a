import type { StreamInfo } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { keyOf } from "../event-log/event-log.ts";
import { ensureTurnsStream, type StreamSettings } from "../event-log/jetstream-streams.ts";
import { LogFull } from "../event-log/log-failures.ts";
import { streamFilter, streamName } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isNobodyThere, isOutOfRoom, isStreamMissing, isSubjectTaken } from "../nats/errors.ts";
import { askJetStream } from "../nats/jetstream-api.ts";
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
        const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: listingMs });
        const subjects = await manager.streams.info(stream, { subjects_filter: streamFilter(prefix, "TURNS") }).then(
          ({ state }) => Object.keys(state.subjects ?? {}),
          (failure: unknown) => {
            if (isStreamMissing(failure)) return [];
            throw failure;
          },
        );
        const found = new Set(subjects.map((subject) => keyOf(parseTurnSubject(prefix, subject))));
        return (job) => found.has(keyOf(job));
      }),
    madeAt: () =>
      asking(connection, async () => {
        const asked = askJetStream<Pick<StreamInfo, "created">>(connection, `$JS.API.STREAM.INFO.${stream}`, "");
        return await asked.then(
          ({ created }) => created,
          (failure: unknown) => {
            if (isStreamMissing(failure)) return null;
            throw failure;
          },
        );
      }),
  };
}
