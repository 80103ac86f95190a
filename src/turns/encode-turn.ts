import { Type } from "typebox";
import { checkedBy } from "../schemas/checked-by.ts";
import { natural, orNull, turn } from "../schemas/event-fields.ts";
import { parseTurnSubject } from "./turn-subjects.ts";
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
  }),
);

/** The subject says the rest. */
export const encodeTurn = ({ run, attempt, opening, cause }: QueuedTurn): string =>
  JSON.stringify({ run, attempt, opening, cause });

/** Throws if it is no turn. */
export function decodeTurn(prefix: string, subject: string, text: string): QueuedTurn {
  const { place: _, ...named } = parseTurnSubject(prefix, subject);
  const { run, attempt, opening, cause } = checked(JSON.parse(text));
  return { ...named, run, attempt, opening, cause };
}
