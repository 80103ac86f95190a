import type { AccessStore } from "../access/access-store.ts";
import { createJetStreamAccessStore } from "../access/jetstream-access-store.ts";
import type { CommandContext } from "./command-context.ts";
import { onNats } from "./on-nats.ts";

/** Opens the store where keys and tenants are kept, and does the work. */
export const onAccessStore = <Result>(
  context: CommandContext,
  work: (store: AccessStore) => Promise<Result>,
): Promise<Result> =>
  onNats(context, async (connection, { natsPrefix: prefix, streamReplicas: replicas }) =>
    work(await createJetStreamAccessStore(connection, { prefix, replicas })),
  );
