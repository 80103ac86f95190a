import type { AccessStore } from "../access/access-store.ts";
import { createJetStreamAccessStore } from "../access/jetstream-access-store.ts";
import type { Patience } from "../nats/patience.ts";
import type { CommandContext } from "./command-context.ts";
import { onNats } from "./on-nats.ts";

/** Opens the store where keys and tenants are kept, and does the work; what NATS does not answer is asked again. */
export const onAccessStore = <Result>(
  context: CommandContext,
  work: (store: AccessStore) => Promise<Result>,
): Promise<Result> =>
  onNats(context, async (connection, { natsPrefix: prefix, streamReplicas: replicas }, patiently) => {
    const store = await patiently(() => createJetStreamAccessStore(connection, { prefix, replicas }));
    return await work(asPatient(store, patiently));
  });

/** Each of these comes to the same where it is done twice. */
const asPatient = (store: AccessStore, patiently: Patience): AccessStore => ({
  addKey: (key) => patiently(() => store.addKey(key)),
  listKeys: () => patiently(store.listKeys),
  revokeKey: (id, at) => patiently(() => store.revokeKey(id, at)),
  listTenants: () => patiently(store.listTenants),
  setRules: (tenant, changes) => patiently(() => store.setRules(tenant, changes)),
});
