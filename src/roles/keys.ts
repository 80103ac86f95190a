import { createJetStreamKeyRing } from "../access/jetstream-key-ring.ts";
import type { KeyRing } from "../access/key-ring.ts";
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
