import type { AccessStore } from "../../src/access/access-store.ts";
import { createJetStreamAccessStore } from "../../src/access/jetstream-access-store.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import type { TestNats } from "./services.ts";

export type TestAccess = {
  readonly connection: JetStreamConnection;
  readonly store: AccessStore;
  close(): Promise<void>;
};

type Nats = Pick<TestNats, "config" | "prefix">;

export const bucketSettings = ({ prefix }: Nats) => ({ prefix, replicas: 1 });

export const connectTo = (nats: Nats): Promise<JetStreamConnection> => connectJetStream(nats.config, "test", () => {});

/** What an operator's commands work with. */
export async function openAccess(nats: Nats): Promise<TestAccess> {
  const connection = await connectTo(nats);
  const store = await createJetStreamAccessStore(connection, bucketSettings(nats));
  return { connection, store, close: connection.close };
}
