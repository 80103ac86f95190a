import { expect } from "chai";
import { digestOf } from "../../src/content/encode-content.ts";
import { maxVersions, type TemplateRef, type TemplateStore } from "../../src/content/template-store.ts";
import { later, now } from "../support/examples.ts";

const letterOf = (text: string) => ({ text, sha256: digestOf(text) });

/** What every store of templates promises. */
export function behavesAsTemplateStore(open: () => Promise<TemplateStore>): void {
  let store: TemplateStore;

  before(async () => {
    store = await open();
  });

  const welcome: TemplateRef = { tenant: "acme", name: "welcome" };

  const versionsOf = async (ref: TemplateRef): Promise<readonly number[]> =>
    (await store.find(ref))?.versions.map(({ version }) => version) ?? [];

  it("has nothing under a name that was never used", async () => {
    expect(await store.find(welcome)).to.equal(null);
    expect(await store.letter(welcome, digestOf("one"))).to.equal(null);
    expect(await store.archive(welcome, now)).to.equal(null);
  });

  it("numbers the versions from 1, and gives back each letter", async () => {
    const one = { version: 1, sha256: digestOf("one"), createdAt: now };
    const two = { version: 2, sha256: digestOf("two"), createdAt: later };
    const first = { name: "welcome", versions: [one], archivedAt: null };
    expect(await store.put(welcome, letterOf("one"), now)).to.deep.equal({
      isNew: true,
      version: one,
      template: first,
    });
    const second = { name: "welcome", versions: [one, two], archivedAt: null };
    expect(await store.put(welcome, letterOf("two"), later)).to.deep.equal({
      isNew: true,
      version: two,
      template: second,
    });
    expect(await store.find(welcome)).to.deep.equal(second);
    expect(await store.letter(welcome, one.sha256)).to.equal("one");
    expect(await store.letter(welcome, two.sha256)).to.equal("two");
  });

  it("answers a letter that it has with its version, even an old one", async () => {
    const again = await store.put(welcome, letterOf("one"), later);
    expect(again?.isNew).to.equal(false);
    expect(again?.version).to.deep.equal({ version: 1, sha256: digestOf("one"), createdAt: now });
    expect(await versionsOf(welcome)).to.deep.equal([1, 2]);
  });

  it("shows one tenant nothing of another", async () => {
    const other = { tenant: "shop", name: "welcome" };
    expect(await store.find(other)).to.equal(null);
    expect(await store.letter(other, digestOf("one"))).to.equal(null);
    expect((await store.page("shop", { after: 0, limit: 10 })).templates).to.deep.equal([]);
  });

  it("gives each of several letters at once a version of its own, and equal ones the same", async () => {
    const ref = { tenant: "crowd", name: "welcome" };
    const texts = ["a", "b", "c", "d", "a", "b", "c", "d"];
    const stored = await Promise.all(texts.map((text) => store.put(ref, letterOf(text), now)));
    expect(await versionsOf(ref)).to.deep.equal([1, 2, 3, 4]);
    const versions = (await store.find(ref))?.versions ?? [];
    for (const [index, text] of texts.entries()) {
      const { version } = stored[index] ?? {};
      expect(version).to.deep.equal(versions.find(({ sha256 }) => sha256 === digestOf(text)));
      expect(await store.letter(ref, digestOf(text))).to.equal(text);
    }
    expect(stored.filter((one) => one?.isNew)).to.have.lengthOf(4);
  });

  it("lists the names in pages, without archived ones", async () => {
    for (const name of ["a", "b", "c", "d"]) await store.put({ tenant: "lists", name }, letterOf(name), now);
    await store.archive({ tenant: "lists", name: "b" }, later);
    const first = await store.page("lists", { after: 0, limit: 2 });
    expect(first.templates.map(({ name }) => name)).to.deep.equal(["a", "c"]);
    const second = await store.page("lists", { after: first.next ?? 0, limit: 2 });
    expect(second.templates.map(({ name }) => name)).to.deep.equal(["d"]);
    expect(second.next).to.equal(null);
  });

  it("archives a name once, keeps its letters, and brings it back with what is put under it", async () => {
    const ref = { tenant: "attic", name: "news" };
    await store.put(ref, letterOf("old"), now);
    expect(await store.archive(ref, later)).to.include({ archivedAt: later });
    expect(await store.archive(ref, later)).to.equal(null);
    expect(await store.letter(ref, digestOf("old"))).to.equal("old");
    expect(await store.put(ref, letterOf("old"), later)).to.deep.include({ isNew: false });
    expect(await store.find(ref)).to.include({ archivedAt: null });
    await store.archive(ref, later);
    expect((await store.put(ref, letterOf("new"), later))?.version.version).to.equal(2);
    expect((await store.find(ref))?.archivedAt).to.equal(null);
  });

  it("refuses a version too many, and still knows those that it has", async function () {
    this.timeout(60_000);
    const ref = { tenant: "full", name: "news" };
    for (let number = 1; number <= maxVersions; number += 1) await store.put(ref, letterOf(`letter ${number}`), now);
    expect(await store.put(ref, letterOf("one more"), now)).to.equal(null);
    expect((await store.put(ref, letterOf("letter 7"), now))?.version.version).to.equal(7);
  });
}
