import { createJetStreamKeyRing } from "../access/jetstream-key-ring.ts";
import type { KeyRing } from "../access/key-ring.ts";
import type { RouteBook } from "../mail/routes/route-book.ts";
import { createOutageReport } from "../process/logger.ts";
import type { Parts } from "./parts.ts";

/** The keys and the tenants' rules, followed once for all roles of this process, from the first one that asks. */
export type SharedKeys = () => Promise<KeyRing>;

export function shareKeys({ config, logger, connection, lifecycle, patiently }: Parts): SharedKeys {
  const settings = { prefix: config.natsPrefix, replicas: config.streamReplicas };
  const follow = async (): Promise<KeyRing> => {
    const report = createOutageReport(logger, { part: "keys" }).failed;
    const ring = await patiently(() => createJetStreamKeyRing(connection, settings, report));
    lifecycle.started("the keys", ring.stop);
    return ring;
  };
  let shared: Promise<KeyRing> | null = null;
  return () => {
    shared ??= follow();
    return shared;
  };
}

/** For what is refused for good by the rules of tenants and the mail routes, as far as this process knows them. */
export const refreshRulesOf = (keys: KeyRing, book: RouteBook) => async (): Promise<void> => {
  await Promise.all([keys.refresh(), book.refresh()]);
};
