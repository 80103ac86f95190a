import { expect } from "chai";
import type { HoldingBack } from "../../src/workers/holding-back.ts";
import { type Aside, createAside } from "../../src/workers/put-aside.ts";
import { eventually } from "../support/eventually.ts";

describe("recipients that are put aside", () => {
  /** What the receiver says to each mail: see HoldingBack.admit. */
  let room: number | null;
  let isFree: boolean;
  let released: number[][];
  let notSent: Set<number>;
  let left: number[];
  let aside: Aside;

  beforeEach(() => {
    [room, isFree, released, notSent, left] = [50, false, [], new Set(), []];
    const holding: HoldingBack = {
      isFree: () => isFree,
      receiverOf: () => "slow.example",
      waitMs: () => room ?? 0,
      admit: () => room,
      leave: () => {},
      returnInMs: (_, recipients) => recipients,
      stay: () => () => {},
    };
    const books = { release: async (recipients: readonly number[]) => void released.push([...recipients]) };
    aside = createAside(holding, { confirmLately: async () => true }, books, { notSent, left });
  });

  /** It looks no more than ten times a second. */
  const withRoom = (most: number) =>
    eventually(() => {
      const found = aside.withRoom(most);
      expect(found.length + left.length).to.be.greaterThan(0);
      return found;
    });

  it("are not given out with a claim that is still to be taken back: it would be stored after the next one", async () => {
    notSent.add(0);
    expect(aside.mayBeServed(0)).to.equal(false);
    room = 0;
    expect(aside.withRoom(10)).to.deep.equal([]);
    await aside.releaseClaims();
    expect(released).to.deep.equal([[0]]);
    expect(notSent.size).to.equal(0);
    expect(await withRoom(10)).to.deep.equal([0]);
    await aside.releaseClaims();
    expect(released).to.deep.equal([[0]]);
  });

  it("are claimed a few at a time, however many have room at once", async () => {
    expect(aside.sift(Array.from({ length: 50 }, (_, index) => index))).to.deep.equal([]);
    room = 0;
    expect(await withRoom(4)).to.deep.equal([0, 1, 2, 3]);
    expect(aside.withRoom(4)).to.deep.equal([4, 5, 6, 7]);
    expect(aside.size()).to.equal(42);
  });

  it("are among the others again when their receiver needs no room any more", async () => {
    aside.sift(Array.from({ length: 50 }, (_, index) => index));
    [room, isFree] = [null, true];
    expect(await withRoom(4)).to.deep.equal([]);
    expect(left).to.have.lengthOf(50);
    expect(aside.size()).to.equal(0);
    expect(aside.sift([0, 1])).to.deep.equal([0, 1]);
  });

  it("count together with those that were refused, which are not served again in this attempt", () => {
    aside.sift([0, 1, 2]);
    aside.refused(3);
    expect(aside.size()).to.equal(4);
    expect(aside.recipients()).to.deep.equal([0, 1, 2]);
    expect(aside.returnInMs()).to.equal(4);
  });
});
