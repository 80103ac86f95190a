import { expect } from "chai";
import { createJetStreamKeyRing, type RunningKeyRing } from "../../src/access/jetstream-key-ring.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { bucketSettings, connectTo, openAccess, type TestAccess } from "../support/access.ts";
import { eventually } from "../support/eventually.ts";
import { storedKey } from "../support/keys.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";

/** A revoked key must be refused within a second; a busy machine may look later. */
const promptlyMs = 5000;

describe("The keys that an instance knows", () => {
  let nats: OwnNats;
  let access: TestAccess;
  let connections: JetStreamConnection[];
  let rings: RunningKeyRing[];
  const failures: unknown[] = [];

  before(async () => {
    nats = await startOwnNats();
    access = await openAccess(nats);
    connections = [await connectTo(nats), await connectTo(nats)];
    rings = await Promise.all(connections.map((connection) => openRing(connection)));
  });
  after(async () => {
    await Promise.all(rings.map((ring) => ring.stop()));
    await Promise.all(connections.map(({ close }) => close()));
    await access.close();
    await nats.cleanUp();
  });

  const openRing = (connection: JetStreamConnection) =>
    createJetStreamKeyRing(connection, bucketSettings(nats), (failure) => failures.push(failure));
  const everywhere = (check: (ring: RunningKeyRing) => void, withinMs = promptlyMs) =>
    eventually(() => rings.forEach(check), withinMs);

  it("are none at first", () => {
    for (const ring of rings)
      expect({ any: ring.hasKeys(), usable: ring.hasUsableKey() }).to.deep.equal({ any: false, usable: false });
  });

  it("were created, also where their record cannot be read: the API must not open to every caller", async () => {
    const bucket = await access.connection.nats.jetstream().views.kv(`${nats.prefix}_ACCESS`);
    await bucket.put("key.torn", '{"id":"torn"');
    await everywhere((ring) =>
      expect({ any: ring.hasKeys(), usable: ring.hasUsableKey() }).to.deep.equal({ any: true, usable: false }),
    );
    expect(rings[0]?.find("torn")).to.equal(null);
    await bucket.delete("key.torn");
  });

  it("include a new one within a second, on every instance", async () => {
    const { record } = await storedKey(access.store, { name: "Grüße" });
    await everywhere((ring) => expect(ring.find(record.id)).to.deep.equal(record));
  });

  it("lack the digest of a revoked one within a second, on every instance", async () => {
    const { record } = await storedKey(access.store);
    await everywhere((ring) => expect(ring.find(record.id)?.sha256).to.equal(record.sha256));
    await access.store.revokeKey(record.id, "2026-11-21T10:00:00.000Z");
    await everywhere((ring) => expect(ring.find(record.id)).to.include({ sha256: null, tenant: record.tenant }));
  });

  it("come with what is laid down for tenants", async () => {
    await access.store.setRules("shop", { dailyRecipients: 7 });
    await everywhere((ring) =>
      expect(ring.rulesOf("shop")).to.deep.equal({ senders: null, dailyRecipients: 7, approvalAbove: null }),
    );
    expect(rings[0]?.rulesOf("nobody")).to.deep.equal({ senders: null, dailyRecipients: null, approvalAbove: null });
  });

  it("are all there for an instance that starts later", async () => {
    const keys = await access.store.listKeys();
    const [connection] = connections;
    if (connection === undefined) throw new Error("There is no connection.");
    const late = await openRing(connection);
    expect(keys.length).to.be.greaterThan(1);
    for (const key of keys) expect(late.find(key.id)).to.deep.equal(key);
    await late.stop();
  });

  it("leave out an entry that is none, and let a broken rule allow nothing", async () => {
    const bucket = await access.connection.nats.jetstream().views.kv(`${nats.prefix}_ACCESS`);
    await bucket.put("key.broken", "{");
    await bucket.put("key.other", JSON.stringify({ id: "somebody", sha256: "0".repeat(64) }));
    await bucket.put("tenant.broken", "[]");
    await everywhere((ring) =>
      expect(ring.rulesOf("broken")).to.deep.equal({ senders: [], dailyRecipients: 0, approvalAbove: 0 }),
    );
    expect(rings.map((ring) => ring.find("broken") ?? ring.find("other"))).to.deep.equal([null, null]);
    await bucket.delete("tenant.broken");
    await everywhere((ring) => expect(ring.rulesOf("broken").senders).to.equal(null));
  });

  it("are kept while NATS is away, which their age tells, and caught up with when it is back", async () => {
    const { record } = await storedKey(access.store);
    await everywhere((ring) => expect(ring.find(record.id)).to.deep.equal(record));
    await nats.kill();
    await everywhere((ring) => expect(ring.ageMs()).to.be.greaterThan(1000), 30_000);
    // They are looked for all the same: the process does not stand still.
    await everywhere((ring) => expect(ring.sinceLookMs()).to.be.lessThan(1000));
    expect(rings.map((ring) => ring.find(record.id))).to.deep.equal([record, record]);
    await nats.start();
    await eventually(() => access.store.revokeKey(record.id, "2026-11-21T10:00:00.000Z"));
    await everywhere((ring) => expect(ring.find(record.id)?.sha256).to.equal(null), 30_000);
    await everywhere((ring) => expect(ring.ageMs()).to.be.lessThan(1000));
  });
});
