import { expect } from "chai";
import type { AddressKey, Suppression, SuppressionStore } from "../../src/suppressions/suppression-store.ts";
import { later, now } from "../support/examples.ts";

const digestOf = (name: string): string => name.padEnd(22, "_");
const keyOf = (name: string, tenant = "acme"): AddressKey => ({ tenant, digest: digestOf(name) });
const suppressionOf = (name: string, more: Partial<Suppression> = {}): Suppression => ({
  email: `${name}@example.com`,
  reason: "manual",
  createdAt: now,
  ...more,
});

/** What every store of suppressions has to do. `open` gives an empty one. */
export function suppressionStoreContract(open: () => Promise<SuppressionStore>): void {
  let store: SuppressionStore;

  beforeEach(async () => {
    store = await open();
  });

  it("has one secret of 256 bits, whichever process reads it first", async () => {
    const [one, other] = await Promise.all([store.secret(), store.secret()]);
    expect(one).to.have.lengthOf(32);
    expect(other.equals(one)).to.equal(true);
    expect((await store.secret()).equals(one)).to.equal(true);
  });

  it("returns what was stored, to its own tenant only", async () => {
    const suppression = suppressionOf("ada");
    expect(await store.find(keyOf("ada"))).to.equal(null);
    expect(await store.put(keyOf("ada"), suppression)).to.deep.equal({ isNew: true, suppression });
    expect(await store.find(keyOf("ada"))).to.deep.equal(suppression);
    expect(await store.find(keyOf("ada", "shop"))).to.equal(null);
    expect(await store.remove(keyOf("ada", "shop"), now)).to.equal(false);
    expect(await store.forget(keyOf("ada", "shop"))).to.equal(false);
  });

  it("leaves an address as it was put there first", async () => {
    const suppression = suppressionOf("ada");
    await store.put(keyOf("ada"), suppression);
    const again = suppressionOf("ada", { reason: "unsubscribe", createdAt: later });
    expect(await store.put(keyOf("ada"), again)).to.deep.equal({ isNew: false, suppression });
    expect(await store.find(keyOf("ada"))).to.deep.equal(suppression);
  });

  it("counts one of several concurrent entries of an address as the first", async () => {
    const reasons = ["manual", "unsubscribe", "hard-bounce"] as const;
    const put = await Promise.all(reasons.map((reason) => store.put(keyOf("ada"), suppressionOf("ada", { reason }))));
    expect(put.filter(({ isNew }) => isNew)).to.have.lengthOf(1);
    const stored = await store.find(keyOf("ada"));
    expect(put.map(({ suppression }) => suppression)).to.deep.equal([stored, stored, stored]);
  });

  it("drops an address for the job that it came from, and for no other job", async () => {
    const bounced = suppressionOf("ada", { reason: "hard-bounce" });
    await store.put(keyOf("ada"), bounced, "job-1");
    await store.put(keyOf("bob"), suppressionOf("bob"));
    for (const ofJob of ["job-2", "job-1"]) await store.forget(keyOf("bob"), ofJob);
    expect(await store.find(keyOf("bob"))).to.deep.equal(suppressionOf("bob"));
    await store.forget(keyOf("ada"), "job-2");
    expect(await store.find(keyOf("ada"))).to.deep.equal(bounced);
    for (const _ of ["once", "again"]) {
      expect(await store.forget(keyOf("ada"), "job-1")).to.equal(true);
      expect(await store.find(keyOf("ada"))).to.deep.equal({ ...bounced, email: null });
    }
  });

  it("lets go what is removed, once, and takes it again", async () => {
    await store.put(keyOf("ada"), suppressionOf("ada"));
    expect(await store.remove(keyOf("ada"), now)).to.equal(true);
    expect(await store.find(keyOf("ada"))).to.equal(null);
    expect(await store.remove(keyOf("ada"), now)).to.equal(false);
    expect((await store.put(keyOf("ada"), suppressionOf("ada", { createdAt: later }))).isNew).to.equal(true);
    expect((await store.find(keyOf("ada")))?.createdAt).to.equal(later);
  });

  it("takes nothing that an event caused before the removal, however often that is acted on, and takes later ones", async () => {
    const bounced = suppressionOf("ada", { reason: "hard-bounce", event: "bounce-1" });
    await store.put(keyOf("ada"), bounced, "job-1");
    await store.remove(keyOf("ada"), later);
    expect((await store.put(keyOf("ada"), bounced, "job-1")).isNew).to.equal(false);
    expect(await store.find(keyOf("ada"))).to.equal(null);
    expect(await store.forget(keyOf("ada"))).to.equal(false);
    expect((await store.page("acme", { after: 0, limit: 10 })).suppressions).to.deep.equal([]);
    const afterwards = { ...bounced, createdAt: "2999-01-01T00:00:00.000Z", event: "bounce-2" };
    expect((await store.put(keyOf("ada"), afterwards, "job-2")).isNew).to.equal(true);
    expect(await store.find(keyOf("ada"))).to.deep.equal(afterwards);
    expect(await store.remove(keyOf("ada"), later)).to.equal(true);
    expect((await store.put(keyOf("ada"), suppressionOf("ada"))).isNew, "by hand").to.equal(true);
  });

  it("forgets an address and keeps that it is suppressed, why and since when", async () => {
    await store.put(keyOf("ada"), suppressionOf("ada", { reason: "unsubscribe" }));
    expect(await store.forget(keyOf("ada"))).to.equal(true);
    const forgotten = { email: null, reason: "unsubscribe", createdAt: now };
    expect(await store.find(keyOf("ada"))).to.deep.equal(forgotten);
    expect(await store.forget(keyOf("ada"))).to.equal(true);
    expect((await store.put(keyOf("ada"), suppressionOf("ada"))).suppression).to.deep.equal(forgotten);
    expect((await store.page("acme", { after: 0, limit: 10 })).suppressions).to.deep.equal([forgotten]);
    expect(await store.remove(keyOf("ada"), now)).to.equal(true);
    expect(await store.find(keyOf("ada"))).to.equal(null);
    expect((await store.page("acme", { after: 0, limit: 10 })).suppressions).to.deep.equal([]);
  });

  it("pages through those of one tenant, each once, and ends", async () => {
    const names = ["a", "b", "c", "d", "e"];
    for (const name of names) {
      await store.put(keyOf(name), suppressionOf(name));
      await store.put(keyOf(name, "shop"), suppressionOf(`shop-${name}`));
    }
    await store.remove(keyOf("c"), now);
    const seen: (string | null)[] = [];
    let after: number | null = 0;
    while (after !== null) {
      const page: Awaited<ReturnType<SuppressionStore["page"]>> = await store.page("acme", { after, limit: 2 });
      expect(page.suppressions.length).to.be.within(1, 2);
      seen.push(...page.suppressions.map(({ email }) => email));
      after = page.next;
    }
    expect(seen).to.deep.equal(["a", "b", "d", "e"].map((name) => `${name}@example.com`));
    expect(await store.page("nobody", { after: 0, limit: 2 })).to.deep.equal({ suppressions: [], next: null });
  });
}
