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
    outageMs: Type.Integer({ minimum: 0 }),
  }),
);

export const storedStream = ({ tenant, id }: RecipientEndpoint, { place, outage }: StreamState): string =>
  JSON.stringify({ tenant, id, place, outageMs: Math.round(outage.lastedMs) });

/** Null for a text that is none. */
export function toStoredStream(text: string): StoredStream | null {
  try {
    const { tenant, id, place, outageMs } = check(JSON.parse(text));
    return { tenant, id, state: { place, outage: { lastedMs: outageMs } }, text };
  } catch {
    return null;
  }
}
