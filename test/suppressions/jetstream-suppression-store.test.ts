import { expect } from "chai";
import { ensureStreams } from "../../src/event-log/jetstream-streams.ts";
import { suppressionSubjectOf } from "../../src/event-log/subjects.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { createJetStreamSuppressionStore } from "../../src/suppressions/jetstream-suppression-store.ts";
import type { SuppressionStore } from "../../src/suppressions/suppression-store.ts";
import { filesWith } from "../erasure/bytes-in.ts";
import { connectTo } from "../support/access.ts";
import { eventually } from "../support/eventually.ts";
import { now } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { suppressionStoreContract } from "./suppression-store-contract.ts";

const key = { tenant: "acme", digest: "d".repeat(22) };

describe("suppressions in NATS", () => {
  let folder: string;
  let nats: OwnNats;
  let connection: JetStreamConnection;
  let opened = 0;

  before(async () => {
    folder = await temporaryFolder();
    nats = await startOwnNats(folder);
    connection = await connectTo(nats);
  });
  after(async () => {
    await connection.close();
    await nats.cleanUp();
  });

  /** An empty one, on a stream of its own. */
  const open = async (): Promise<{ readonly store: SuppressionStore; readonly prefix: string }> => {
    opened += 1;
    const prefix = `${nats.prefix}-${opened}`;
    await ensureStreams(connection, { prefix, replicas: 1, maxBytes: null });
    return { store: createJetStreamSuppressionStore(connection, prefix), prefix };
  };
  suppressionStoreContract(async () => (await open()).store);

  it("leave no byte of an address on the disk once it was forgotten or removed", async () => {
    // A server that runs already keeps its files elsewhere.
    if (process.env["TEST_NATS_URL"] !== undefined) return;
    const { store } = await open();
    const other = { ...key, digest: "e".repeat(22) };
    await store.put(key, { email: "forgotten.person@example.com", reason: "manual", createdAt: now });
    await store.put(other, { email: "removed.person@example.com", reason: "manual", createdAt: now });
    expect(await filesWith(folder, ["forgotten.person"])).not.to.deep.equal([]);
    await store.forget(key);
    await store.remove(other, now);
    expect(await filesWith(folder, ["forgotten.person", "removed.person"])).to.deep.equal([]);
  });

  it("leave none either where the process that forgot it died in the middle, and it is removed then", async () => {
    if (process.env["TEST_NATS_URL"] !== undefined) return;
    const { store, prefix } = await open();
    await store.put(key, { email: "half.forgotten@example.com", reason: "manual", createdAt: now });
    const forgotten = { email: null, reason: "manual", createdAt: now, replaces: 1 };
    const subject = suppressionSubjectOf(prefix, key.tenant, key.digest);
    await connection.nats.jetstream().publish(subject, JSON.stringify(forgotten));
    expect(await filesWith(folder, ["half.forgotten"])).not.to.deep.equal([]);
    await store.remove(key, now);
    expect(await filesWith(folder, ["half.forgotten"])).to.deep.equal([]);
  });

  it("forget what a process that died in the middle of it had left behind", async () => {
    const { store, prefix } = await open();
    await store.put(key, { email: "ada@example.com", reason: "manual", createdAt: now });
    const subject = suppressionSubjectOf(prefix, key.tenant, key.digest);
    const value = { email: null, reason: "manual", createdAt: now, replaces: 1 };
    await connection.nats.jetstream().publish(subject, JSON.stringify(value));
    const emails = async () =>
      (await store.page("acme", { after: 0, limit: 10 })).suppressions.map(({ email }) => email);
    expect(await emails()).to.deep.equal(["ada@example.com", null]);
    expect(await store.forget(key)).to.equal(true);
    expect(await emails()).to.deep.equal([null]);
  });

  it("keep nothing of an address whose removal was not finished once it is added again", async () => {
    const { store, prefix } = await open();
    await store.put(key, { email: "ada@example.com", reason: "unsubscribe", createdAt: now });
    const subject = suppressionSubjectOf(prefix, key.tenant, key.digest);
    const removed = { email: null, reason: "unsubscribe", createdAt: now, removedAt: now, replaces: 1 };
    await connection.nats.jetstream().publish(subject, JSON.stringify(removed));
    await store.put(key, { email: "ada@example.com", reason: "manual", createdAt: now });
    const { suppressions } = await store.page("acme", { after: 0, limit: 10 });
    expect(suppressions.map(({ reason }) => reason)).to.deep.equal(["manual"]);
  });

  it("are listed in short pages where many were removed, so that no page takes long", async () => {
    const { store, prefix } = await open();
    const removed = JSON.stringify({ email: null, reason: "manual", createdAt: now, removedAt: now });
    const subjects = Array.from({ length: 1000 }, (_, index) =>
      suppressionSubjectOf(prefix, key.tenant, String(index).padStart(22, "r")),
    );
    await Promise.all(subjects.map((subject) => connection.nats.jetstream().publish(subject, removed)));
    await store.put(key, { email: "ada@example.com", reason: "manual", createdAt: now });
    const found: (string | null)[] = [];
    let pages = 0;
    for (let after: number | null = 0; after !== null; pages += 1) {
      const { suppressions, next } = await store.page("acme", { after, limit: 10 });
      found.push(...suppressions.map(({ email }) => email));
      after = next;
    }
    expect(found).to.deep.equal(["ada@example.com"]);
    expect(pages).to.be.within(3, 10);
  });

  it("suppress whom an entry names that cannot be read", async () => {
    const { store, prefix } = await open();
    const subject = suppressionSubjectOf(prefix, key.tenant, key.digest);
    await connection.nats.jetstream().publish(subject, "{broken");
    expect(await store.find(key)).to.include({ email: null, reason: "manual" });
    const newer = { email: "ada@example.com", reason: "spam-trap", createdAt: now, feedbackId: 7 };
    await connection.nats.jetstream().publish(subject, JSON.stringify(newer));
    expect(await store.find(key)).to.deep.equal({ email: "ada@example.com", reason: "manual", createdAt: now });
  });

  it("say so when NATS is away, and have what was there when it is back", async () => {
    const { store } = await open();
    const suppression = { email: "ada@example.com", reason: "unsubscribe", createdAt: now } as const;
    await store.put(key, suppression);
    const secret = await store.secret();
    await nats.stop();
    expect((await failureOf(store.find(key))).name).to.equal("Unavailable");
    await nats.start();
    await eventually(async () => expect(await store.find(key)).to.deep.equal(suppression));
    expect((await store.secret()).equals(secret)).to.equal(true);
  });
});
