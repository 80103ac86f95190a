import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { anchorsOf, linksOf, namedFiles } from "./links.ts";
import { checkout, readPage } from "./read-page.ts";

const guides = (await readdir(join(checkout, "ops/guides"), { recursive: true }))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `ops/guides/${name}`);
/** Not in git: a build makes them. */
const made = (await readPage(".gitignore")).split("\n");
const isThere = (path: string): boolean => existsSync(join(checkout, path)) || made.includes(`/${path}`);
const pages = ["README.md", "CHANGELOG.md", "src/seals/README.md", ...guides.sort()];

describe("The links between the pages", () => {
  it("are found, with the headings that they name", () => {
    const page =
      "# A `b`, c\n\n[x](../y.md#z-1) ![p](p.png) [here](#a-b-c) [far](https://example.com) `[no](no.md)`\n\n# A b c\n";
    expect(linksOf("ops/a.md", page)).to.deep.equal([
      { text: "../y.md#z-1", path: "y.md", heading: "z-1" },
      { text: "p.png", path: "ops/p.png", heading: null },
      { text: "#a-b-c", path: "ops/a.md", heading: "a-b-c" },
    ]);
    expect([...anchorsOf(page)]).to.deep.equal(["a-b-c", "a-b-c-1"]);
  });

  for (const page of pages) {
    it(`lead somewhere: ${page}`, async () => {
      for (const { text, path, heading } of linksOf(page, await readPage(page))) {
        expect(existsSync(join(checkout, path)), text).to.equal(true);
        if (heading !== null) expect([...anchorsOf(await readPage(path))], text).to.include(heading);
      }
    });
  }

  for (const page of pages) {
    it(`stand beside names of files that are there: ${page}`, async () => {
      const named = namedFiles(await readPage(page));
      expect(named.filter((path) => !isThere(path))).to.deep.equal([]);
    });
  }

  it("lead from the README, or from a page that it leads to, to every guide", async () => {
    const found = new Set<string>(["README.md"]);
    // A set goes on over what is added while it is gone through.
    for (const page of found) {
      if (!page.endsWith(".md")) continue;
      for (const { path } of linksOf(page, await readPage(page))) found.add(path);
    }
    expect([...found]).to.include.members(guides);
  });
});
