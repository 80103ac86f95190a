import { Type } from "typebox";
import { checkedBy } from "../schemas/checked-by.ts";
import type { RecipientEndpoint } from "./recipient-endpoints.ts";
import type { StreamState } from "./recipient-stream.ts";

/** The state of a stream as its text in the checkpoint says. */
export type StoredStream = Pick<RecipientEndpoint, "tenant" | "id"> & {
  readonly state: StreamState;
  readonly text: string;
};

const check = checkedBy(
  Type.Object({
    tenant: Type.String(),
    id: Type.String(),
    place: Type.Integer({ minimum: 0 }),
    since: Type.Union([Type.Integer(), Type.Null()]),
  }),
);

export const storedStream = ({ tenant, id }: RecipientEndpoint, { place, outage }: StreamState): string =>
  JSON.stringify({ tenant, id, place, since: outage.since });

/** Null for a text that is none. */
export function toStoredStream(text: string): StoredStream | null {
  try {
    const { tenant, id, place, since } = check(JSON.parse(text));
    return { tenant, id, state: { place, outage: { since } }, text };
  } catch {
    return null;
  }
}
