import { Type } from "typebox";
import type { JobEvent } from "../domain/job/events.ts";
import { decodeEnvelope } from "../event-log/decode-entry.ts";
import { toEnvelope } from "../event-log/encode-entry.ts";
import type { StoredEvent } from "../event-log/event-log.ts";
import { UndecodableEvent } from "../event-log/log-failures.ts";
import { isDecision } from "../event-log/select-events.ts";
import { checkedBy } from "../schemas/checked-by.ts";
import { type CloudEvent, cloudEvent } from "../schemas/cloud-event.ts";
import { natural, orNull, turn } from "../schemas/event-fields.ts";
import { type NamedTurn, parseTurnSubject } from "./turn-subjects.ts";
import type { QueuedTurn } from "./turns.ts";

/** Open: a newer release may write more. */
const checked = checkedBy(
  Type.Object({
    ...turn,
    opening: natural,
    cause: Type.Object({
      id: Type.String(),
      correlationId: orNull(Type.String()),
      traceparent: orNull(Type.String()),
    }),
    created: Type.Optional(cloudEvent),
  }),
);

/** The subject says the rest. */
export const encodeTurn = ({ run, attempt, opening, cause, created, ...job }: QueuedTurn): string =>
  JSON.stringify({ run, attempt, opening, cause, created: created === null ? undefined : toEnvelope(job, created) });

/** Throws if it is no turn. */
export function decodeTurn(prefix: string, subject: string, text: string): QueuedTurn {
  const { place: _, ...named } = parseTurnSubject(prefix, subject);
  const { run, attempt, opening, cause, created } = checked(JSON.parse(text));
  return {
    ...named,
    run,
    attempt,
    opening,
    cause,
    created: created === undefined ? null : decodeCreated(named, created),
  };
}

/** Null for one that this release cannot read: the worker then finds in the log why. */
function decodeCreated(
  { tenant, jobId, after }: Omit<NamedTurn, "place">,
  envelope: CloudEvent,
): StoredEvent<JobEvent> | null {
  try {
    const event = decodeEnvelope({ tenant, jobId, channel: "job" }, { sequence: after, index: 0 }, envelope);
    return isDecision(event) ? event : null;
  } catch (failure) {
    if (failure instanceof UndecodableEvent) return null;
    throw failure;
  }
}
