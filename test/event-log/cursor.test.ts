import { expect } from "chai";
import { inBatches } from "../../src/event-log/batches.ts";
import {
  beginOfLog,
  type Cursor,
  cursorText,
  isBehind,
  lastWholeEntry,
  readCursor,
} from "../../src/event-log/cursor.ts";

describe("A cursor", () => {
  it("is written and read as the place of an event, or of a whole entry", () => {
    for (const text of ["0", "17", "17.0", "17.63", "123456789012345.5"]) {
      const cursor = readCursor(text);
      expect(cursor === null ? null : cursorText(cursor)).to.equal(text);
    }
    expect(cursorText(beginOfLog)).to.equal("0");
  });

  for (const text of ["", "x", "-1", "1.", ".5", "1.2.3", "1.234", "1e3", " 1", "1234567890123456"]) {
    it(`is not read from ${JSON.stringify(text)}`, () => expect(readCursor(text)).to.equal(null));
  }

  it("has behind it what comes after it, within its entry and in later ones", () => {
    const places = [1, 2, 3].flatMap((sequence) => [0, 1, 2].map((index) => ({ sequence, index })));
    const behind = (text: string) => {
      const cursor = readCursor(text) ?? beginOfLog;
      for (const place of places)
        if (isBehind(cursor, place)) expect(place.sequence).to.be.above(lastWholeEntry(cursor));
      return places.filter((place) => isBehind(cursor, place)).map(cursorText);
    };
    expect(behind("2")).to.deep.equal(["3.0", "3.1", "3.2"]);
    expect(behind("2.1")).to.deep.equal(["2.2", "3.0", "3.1", "3.2"]);
    expect(behind("2.2")).to.deep.equal(["3.0", "3.1", "3.2"]);
    expect(behind("0")).to.have.length(9);
    expect(behind("0.0")).to.have.length(9);
  });

  it("begins no earlier than the log, wherever it is", () => {
    for (const text of ["0", "0.0", "0.63", "1.0"]) {
      expect(lastWholeEntry(readCursor(text) as Cursor), text).to.equal(0);
    }
  });
});

describe("Events in batches", () => {
  const events = [1, 1, 2, 3, 3, 3, 3, 4].map((sequence, index) => ({ sequence, index }));
  const sizes = (maxEvents: number) => [...inBatches(events, maxEvents)].map(({ length }) => length);

  it("never end inside an entry, and are no larger than asked for unless an entry is", () => {
    expect(sizes(1)).to.deep.equal([2, 1, 4, 1]);
    expect(sizes(3)).to.deep.equal([3, 4, 1]);
    expect(sizes(5)).to.deep.equal([3, 5]);
    expect(sizes(8)).to.deep.equal([8]);
    expect([...inBatches([], 3)]).to.deep.equal([]);
    expect([...inBatches(events, 3)].flat()).to.deep.equal(events);
  });
});
