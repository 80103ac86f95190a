import { expect } from "chai";
import { type Acted, type ActedOnMany, actOnMany, type Many, pagesOfList } from "../../src/intake/act-on-many.ts";

const ids = Array.from({ length: 10 }, (_, index) => `job-${index}`);
const changed = (id: string): Acted => ({ id, outcome: "changed", jobId: id });

const bounds = { atOnce: 2, most: 100, forMs: 60_000 };
const idsOf = (acted: readonly Acted[]) => acted.map(({ id }) => id).sort();

describe("An action on many things", () => {
  const many = (some: Partial<Many> = {}): Many => ({
    page: pagesOfList(ids, 3),
    act: async (id) => changed(id),
    ...bounds,
    ...some,
  });

  it("is done to each of them once", async () => {
    const { acted, nextCursor } = await actOnMany(null, many());
    expect(idsOf(acted)).to.deep.equal(ids);
    expect(nextCursor).to.equal(null);
  });

  it("is done to no more at a time than is allowed", async () => {
    let [going, most] = [0, 0];
    const act = async (id: string): Promise<Acted> => {
      going += 1;
      most = Math.max(most, going);
      await new Promise(setImmediate);
      going -= 1;
      return changed(id);
    };
    await actOnMany(null, many({ act, page: pagesOfList(ids, 10), atOnce: 4 }));
    expect(most).to.equal(4);
  });

  for (const [bound, some] of [
    ["number", { most: 4 }],
    ["time", { forMs: 0 }],
  ] as const) {
    it(`leaves the rest to the next call after a ${bound}, which begins at the cursor`, async () => {
      const seen: string[] = [];
      let [cursor, calls]: [string | null, number] = [null, 0];
      do {
        const done: ActedOnMany = await actOnMany(cursor, many(some));
        seen.push(...idsOf(done.acted));
        [cursor, calls] = [done.nextCursor, calls + 1];
      } while (cursor !== null);
      expect(seen).to.deep.equal(ids);
      expect(calls).to.be.greaterThan(1);
    });
  }

  it("says what was done before something failed, also of the page with it, and goes on with what is left of that", async () => {
    const away = async (id: string): Promise<Acted> => {
      if (id === "job-4") throw new Error("away");
      return changed(id);
    };
    const { acted, nextCursor } = await actOnMany(null, many({ act: away, atOnce: 1 }));
    expect(idsOf(acted)).to.deep.equal(ids.slice(0, 4));
    expect(nextCursor).to.equal("left:job-4,job-5:6");
    const again: string[] = [];
    const act = async (id: string, isAgain: boolean): Promise<Acted> => {
      if (isAgain) again.push(id);
      return changed(id);
    };
    const { acted: rest } = await actOnMany(nextCursor, many({ act }));
    expect(idsOf(rest)).to.deep.equal(ids.slice(4));
    expect(again).to.deep.equal(["job-4", "job-5"]);
  });

  it("ends with what is left of the last page", async () => {
    const away = async (id: string): Promise<Acted> => {
      if (id === "job-9") throw new Error("away");
      return changed(id);
    };
    const { nextCursor } = await actOnMany("6", many({ act: away }));
    expect(nextCursor).to.equal("left:job-9:");
    expect(await actOnMany(nextCursor, many())).to.deep.equal({ acted: [changed("job-9")], nextCursor: null });
  });

  it("fails where nothing was done", async () => {
    const act = async (): Promise<Acted> => {
      throw new Error("away");
    };
    for (const cursor of [null, "left:job-4,job-5:6"]) {
      const failure = await actOnMany(cursor, many({ act })).catch((error: Error) => error);
      expect(failure).to.be.instanceOf(Error).with.property("message", "away");
    }
  });

  it("goes on over pages with nothing in them", async () => {
    const pages = new Map([
      [null, { items: [], nextCursor: "1" }],
      ["1", { items: ["job-1"], nextCursor: null }],
    ]);
    const page = async (cursor: string | null) => pages.get(cursor) ?? { items: [], nextCursor: null };
    expect(idsOf((await actOnMany(null, many({ page }))).acted)).to.deep.equal(["job-1"]);
  });

  it("is done to nothing of a list after a cursor that is not of it", async () => {
    expect(await actOnMany("later", many())).to.deep.equal({ acted: [], nextCursor: null });
  });
});
