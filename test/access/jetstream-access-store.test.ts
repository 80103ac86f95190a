import { expect } from "chai";
import { openAccess, type TestAccess } from "../support/access.ts";
import { storedKey } from "../support/keys.ts";
import { startNats, type TestNats } from "../support/services.ts";

describe("What operators keep of keys and tenants", () => {
  let nats: TestNats;
  let access: TestAccess;

  before(async () => {
    nats = await startNats();
    access = await openAccess(nats);
  });
  after(async () => {
    await access.close();
    await nats.cleanUp();
  });

  it("is the digest of a key, and never the key", async () => {
    const { text, record } = await storedKey(access.store);
    const bucket = await access.connection.nats.jetstream().views.kv(`${nats.prefix}_ACCESS`);
    const kept = (await bucket.get(`key.${record.id}`))?.string() ?? "";
    expect(kept).to.include(record.sha256).and.not.include(text.slice(-49));
  });

  it("is listed oldest first", async () => {
    await storedKey(access.store, { createdAt: "2026-11-22T00:00:00.000Z" });
    await storedKey(access.store, { createdAt: "2026-11-20T00:00:00.000Z" });
    const ages = (await access.store.listKeys()).map(({ createdAt }) => createdAt);
    expect(ages).to.deep.equal([...ages].sort());
  });

  it("stays of a revoked key, without its digest, as it was revoked first", async () => {
    const { record } = await storedKey(access.store);
    const expected = { ...record, sha256: null, revokedAt: "2026-11-21T10:00:00.000Z" };
    expect(await access.store.revokeKey(record.id, "2026-11-21T10:00:00.000Z")).to.deep.equal(expected);
    expect(await access.store.revokeKey(record.id, "2026-11-21T11:00:00.000Z")).to.deep.equal(expected);
    expect(await access.store.listKeys()).to.deep.include(expected);
  });

  it("is nothing of a key that never was", async () => {
    expect(await access.store.revokeKey("nobody", "2026-11-21T10:00:00.000Z")).to.equal(null);
  });

  it("is every one of the rules that several operators lay down at once", async () => {
    await Promise.all([
      access.store.setRules("shop", { dailyRecipients: 7 }),
      access.store.setRules("shop", { senders: ["shop.example"] }),
    ]);
    expect((await access.store.listTenants()).get("shop")).to.deep.equal({
      senders: ["shop.example"],
      dailyRecipients: 7,
      approvalAbove: null,
    });
    await access.store.setRules("shop", { dailyRecipients: null });
    expect([...(await access.store.listTenants()).keys()]).to.deep.equal(["acme", "shop"]);
  });
});
