import { expect } from "chai";
import { digestOf } from "../../src/content/encode-content.ts";
import { createJetStreamTemplateStore } from "../../src/content/jetstream-template-store.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { bucketSettings, connectTo } from "../support/access.ts";
import { now } from "../support/examples.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { behavesAsTemplateStore } from "./template-store-contract.ts";

describe("Templates in a NATS bucket", () => {
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

  const open = () => createJetStreamTemplateStore(connection, bucketSettings(nats));

  behavesAsTemplateStore(open);

  it("are not given out where the stored letter is not what its digest says", async () => {
    const store = await open();
    const ref = { tenant: "acme", name: "altered" };
    const sha256 = digestOf("the letter");
    await store.put(ref, { text: "the letter", sha256 }, now);
    const bucket = await connection.nats.jetstream().views.kv(`${nats.prefix}_TEMPLATES`);
    await bucket.put(`letters.acme.altered.${sha256}`, "another letter");
    expect(await store.letter(ref, sha256)).to.equal(null);
  });

  it("gets a version where a process died between its letter and the list", async () => {
    const store = await open();
    const ref = { tenant: "acme", name: "halfway" };
    const sha256 = digestOf("the letter");
    const bucket = await connection.nats.jetstream().views.kv(`${nats.prefix}_TEMPLATES`);
    await bucket.put(`letters.acme.halfway.${sha256}`, "the letter");
    expect(await store.find(ref)).to.equal(null);
    expect((await store.put(ref, { text: "the letter", sha256 }, now))?.version.version).to.equal(1);
    expect(await store.letter(ref, sha256)).to.equal("the letter");
  });
});
