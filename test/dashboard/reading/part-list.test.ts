import { expect } from "chai";
import { createPartList, type MadePart, type PartState, toCells } from "../../../src/dashboard/ui/reading/part-list.ts";

const { signal } = new AbortController();

type Status = "completed" | "failed" | "processing";

/** The jobs of a mailing in pages of 100, and the cursors that were asked for. */
function storedJobs(count: number) {
  const statuses: Status[] = Array(count).fill("completed");
  const asked: number[] = [];
  const list = createPartList(async (cursor) => {
    const from = Number(cursor ?? 0);
    asked.push(from);
    const data = statuses.slice(from, from + 100).map((status, index) => ({ id: `${from + index}`, status }));
    const nextCursor = from + 100 < statuses.length ? String(from + 100) : null;
    // biome-ignore lint/suspicious/noExplicitAny: the list looks at nothing else of a page.
    return { data, pagination: { nextCursor } } as any;
  });
  const refresh = (isOpen = true) => {
    asked.length = 0;
    return list.refresh(isOpen, signal);
  };
  return { statuses, asked, refresh };
}

describe("The parts of a mailing", () => {
  it("are all read once, some pages at a time", async () => {
    const { asked, refresh } = storedJobs(2550);
    expect((await refresh()).isWhole).to.equal(false);
    expect(asked).to.have.length(20);
    const { parts, isWhole } = await refresh();
    expect(isWhole).to.equal(true);
    expect(asked[0]).to.equal(2000);
    expect(parts.map(({ jobId }) => jobId)).to.deep.equal(Array.from({ length: 2550 }, (_, index) => `${index}`));
  });

  it("are asked for again only where something may have changed", async () => {
    const { statuses, asked, refresh } = storedJobs(1050);
    statuses[420] = "processing";
    statuses[610] = "failed";
    await refresh();
    await refresh();
    expect(asked).to.deep.equal([400, 600, 1000]);
    statuses[420] = "completed";
    await refresh(false);
    // A failed part of a mailing that has ended stays as it is.
    expect(asked).to.deep.equal([400, 1000]);
    await refresh(false);
    expect(asked).to.deep.equal([1000]);
    statuses[610] = "processing";
    const { parts } = await refresh(true);
    expect(parts[610]?.state).to.equal("processing");
  });

  it("that are made later follow those that were known", async () => {
    const { statuses, refresh } = storedJobs(100);
    await refresh();
    statuses.push("processing");
    const { parts } = await refresh();
    expect(parts).to.have.length(101);
    expect(parts[100]).to.deep.equal({ jobId: "100", state: "processing" });
  });
});

describe("The strip of parts", () => {
  const made = (...states: readonly PartState[]): readonly MadePart[] =>
    states.map((state, index) => ({ jobId: `job ${index + 1}`, state }));

  it("has a cell for each part while there are few", () => {
    const cells = toCells(made("done", "failed"), 3, 400);
    expect(cells.map(({ first, last, state, jobId }) => [first, last, state, jobId])).to.deep.equal([
      [1, 1, "done", "job 1"],
      [2, 2, "failed", "job 2"],
      [3, 3, "not made", null],
    ]);
  });

  it("groups many, and links to the one that a person should look at first", () => {
    const cells = toCells(made("done", "done", "done", "failed", "processing", "done", "done"), 10, 4);
    expect(cells.map(({ first, last, state, jobId }) => [first, last, state, jobId])).to.deep.equal([
      [1, 3, "done", "job 1"],
      [4, 6, "failed", "job 4"],
      [7, 9, "not made", "job 7"],
      [10, 10, "not made", null],
    ]);
    expect(cells[1]?.counts).to.include({ failed: 1, processing: 1, done: 1 });
    expect(toCells([], 20_000, 400)).to.have.length(400);
  });
});
