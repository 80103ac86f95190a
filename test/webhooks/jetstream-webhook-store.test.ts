import { expect } from "chai";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { inClear } from "../../src/secrets/sealing.ts";
import { createJetStreamWebhookStore } from "../../src/webhooks/jetstream-webhook-store.ts";
import { bucketSettings, connectTo } from "../support/access.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { behavesAsWebhookStore, endpoint } from "./webhook-store-contract.ts";

describe("Webhooks in a NATS bucket", () => {
  let nats: TestNats;
  let connection: JetStreamConnection;

  before(async () => {
    nats = await startNats();
    connection = await connectTo(nats);
  });
  after(async () => {
    await connection.close();
    await nats.cleanUp();
  });

  const open = () => createJetStreamWebhookStore(connection, bucketSettings(nats), inClear("WEBHOOKS"));

  behavesAsWebhookStore(open);

  it("are read although a newer release wrote more into them", async () => {
    const store = await open();
    const bucket = await connection.nats.jetstream().views.kv(`${nats.prefix}_WEBHOOKS`);
    const { secrets, ...one } = endpoint();
    const newer = {
      endpoints: [{ ...one, types: ["job.completed", "job.blessed"], colour: "red", secrets }],
      secrets: [],
    };
    await bucket.put("future", JSON.stringify(newer));
    expect((await store.read("future")).endpoints[0]?.types).to.deep.equal(["job.completed"]);
  });
});
