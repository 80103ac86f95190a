import { type BucketSettings, changeEntry, openBucket } from "../../nats/bucket.ts";
import type { JetStreamConnection } from "../../nats/connection.ts";
import { SchemaBroken } from "../../schemas/checked-by.ts";
import { CannotOpen, type Sealing } from "../../secrets/sealing.ts";
import type { MailRouteStore, StoredRoute } from "./mail-route-store.ts";
import { decodeRoute, encodeRoute } from "./route-records.ts";

export const bucketOfRoutes = "ROUTES";

/** One entry for each route. A write succeeds only if the entry has not changed since it was read. */
export async function createJetStreamMailRouteStore(
  connection: JetStreamConnection,
  settings: BucketSettings,
  sealing: Sealing,
): Promise<MailRouteStore> {
  const bucket = await openBucket(connection, bucketOfRoutes, settings);
  const decode = (name: string, bytes: string | null): StoredRoute | null => {
    try {
      return bytes === null ? null : decodeRoute(sealing, name, bytes);
    } catch (failure) {
      // A route that cannot be read has to be written whole.
      if (failure instanceof CannotOpen || failure instanceof SchemaBroken || failure instanceof SyntaxError)
        return null;
      throw failure;
    }
  };
  return {
    isSealed: sealing.isOn,
    change: (name, toNext) =>
      changeEntry(connection, bucket, name, (bytes) => {
        const before = decode(name, bytes);
        const next = toNext(before);
        return { before, next, text: next === null ? null : encodeRoute(sealing, next) };
      }),
    remove: async (name) => {
      const { text } = await changeEntry(connection, bucket, name, (bytes) => ({
        // An entry that cannot be read can be removed all the same.
        text: bytes === null || bytes === "" ? null : "",
      }));
      return text !== null;
    },
  };
}
