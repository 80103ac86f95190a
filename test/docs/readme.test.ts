import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { describeDocument } from "./document.ts";

describeDocument("README.md", {
  startsItself: true,
  // Its first job is asked for in the same words by every reader, and nothing else is shown with a digest.
  hasSameDigests: true,
  atMostNotRun: 0,
});

describe("README.md", () => {
  const read = (path: string): Promise<string> =>
    readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");

  it("has at most 200 lines", async () => {
    expect((await read("README.md")).trimEnd().split("\n")).to.have.length.of.at.most(200);
  });

  it("quotes figures that the benchmark's page has", async () => {
    const [, table = ""] = (await read("README.md")).split("## How fast");
    const figures = table.match(/\d[\d,.]*\d|\d/g) ?? [];
    expect(figures).to.have.length.of.at.least(40);
    const measured = new Set((await read("ops/guides/reference/benchmark.md")).match(/\d[\d,.]*\d|\d/g));
    expect(figures.filter((figure) => !measured.has(figure))).to.deep.equal([]);
  });
});
