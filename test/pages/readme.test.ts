import { expect } from "chai";
import { readPage } from "./read-page.ts";

const figuresIn = (text: string): readonly string[] => text.match(/\d[\d,.]*\d|\d/g) ?? [];

describe("The README", () => {
  it("has at most 200 lines", async () => {
    expect((await readPage("README.md")).trimEnd().split("\n")).to.have.length.of.at.most(200);
  });

  it("quotes figures that the benchmark's page has", async () => {
    const [, table = ""] = (await readPage("README.md")).split("## How fast");
    const quoted = figuresIn(table);
    expect(quoted).to.have.length.of.at.least(40);
    const measured = new Set(figuresIn(await readPage("ops/guides/reference/benchmark.md")));
    expect(quoted.filter((figure) => !measured.has(figure))).to.deep.equal([]);
  });
});
