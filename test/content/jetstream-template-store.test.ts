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

  it("are listed in short pages where many were archived, so that no page takes long", async () => {
    const store = await open();
    const bucket = await connection.nats.jetstream().views.kv(`${nats.prefix}_TEMPLATES`);
    const archived = JSON.stringify({ name: "old", versions: [], archivedAt: now });
    const names = Array.from({ length: 1000 }, (_, index) => `names.attics.old-${index}`);
    await Promise.all(names.map((name) => bucket.put(name, archived)));
    await store.put({ tenant: "attics", name: "new" }, { text: "the letter", sha256: digestOf("the letter") }, now);
    const found: string[] = [];
    let pages = 0;
    for (let after: number | null = 0; after !== null; pages += 1) {
      const { templates, next } = await store.page("attics", { after, limit: 10 });
      found.push(...templates.map(({ name }) => name));
      after = next;
    }
    expect(found).to.deep.equal(["new"]);
    expect(pages).to.be.within(3, 10);
  });

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
