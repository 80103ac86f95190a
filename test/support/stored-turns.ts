import { streamFilter, streamName } from "../../src/event-log/subjects.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { decodeTurn } from "../../src/turns/encode-turn.ts";
import { parseTurnSubject } from "../../src/turns/turn-subjects.ts";
import type { QueuedTurn, TurnPlace } from "../../src/turns/turns.ts";

/** The turns that NATS holds, waiting or held by a worker. */
export async function storedTurns(
  { nats }: JetStreamConnection,
  prefix: string,
): Promise<readonly (QueuedTurn & { readonly place: TurnPlace })[]> {
  const { streams } = await nats.jetstreamManager({ checkAPI: false });
  const stream = streamName(prefix, "TURNS");
  const { state } = await streams.info(stream, { subjects_filter: streamFilter(prefix, "TURNS") });
  const found = await Promise.all(
    Object.keys(state.subjects ?? {}).map(async (subject) => {
      const message = await streams.getMessage(stream, { last_by_subj: subject }).catch(() => null);
      // A worker may have done it meanwhile.
      if (message === null) return [];
      return [{ ...decodeTurn(prefix, subject, message.string()), place: parseTurnSubject(prefix, subject).place }];
    }),
  );
  return found.flat();
}
