import { expect } from "chai";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { inClear } from "../../src/secrets/sealing.ts";
import { createJetStreamWebhookStore } from "../../src/webhooks/jetstream-webhook-store.ts";
import { withEndpoint, withSecret } from "../../src/webhooks/tenant-webhooks.ts";
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

  it("keep what only a newer release knows where an older one changes them", async () => {
    const store = await open();
    const bucket = await connection.nats.jetstream().views.kv(`${nats.prefix}_WEBHOOKS`);
    const one = { ...endpoint(), types: ["job.completed", "job.blessed"], colour: "red" };
    await bucket.put("kept", JSON.stringify({ endpoints: [one], secrets: [], mood: "good" }));
    const { webhooks } = await store.change("kept", withSecret);
    expect(webhooks.endpoints[0]?.types).to.deep.equal(["job.completed"]);
    await store.change("kept", (before) =>
      withEndpoint(before, endpoint({ id: "0193a5e0-7000-7a4b-9f2e-000000000002" })),
    );
    const stored = (await bucket.get("kept"))?.json<{ mood: string; endpoints: object[] }>();
    expect(stored?.mood).to.equal("good");
    expect(stored?.endpoints).to.have.lengthOf(2);
    expect(stored?.endpoints[0]).to.deep.equal(one);
  });
});
