import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { checkout, readPage } from "./read-page.ts";

const guide = "ops/guides/developer.md";

/** Words in backticks that match, without those around the match. */
const named = (markdown: string, pattern: RegExp): ReadonlySet<string> =>
  new Set(
    [...markdown.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = ""]) =>
      [...code.matchAll(pattern)].map(([, name = ""]) => name),
    ),
  );

describe("The guide for developers", () => {
  let markdown: string;

  before(async () => {
    markdown = await readPage(guide);
  });

  it("names no script that package.json does not have", async () => {
    const { scripts } = JSON.parse(await readPage("package.json"));
    const scriptsNamed = named(markdown, /npm run ([\w:]+)/g);
    expect(scriptsNamed).to.include("test:unit").and.to.include("test:all");
    for (const script of scriptsNamed) expect(scripts, script).to.have.property(script);
  });

  it("says of every folder and file of src what it holds", () => {
    const [, tree = ""] = markdown.split("## The tree");
    const placed = named(tree.split("\n## ")[0] ?? "", /^src\/([\w.-]+)\/?$/g);
    expect([...placed].sort()).to.deep.equal(readdirSync(`${checkout}src`).sort());
  });

  it("names every environment variable that only tests know, and no other", () => {
    const known = readdirSync(`${checkout}test`, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|cjs)$/.test(name))
      .flatMap(
        (name) =>
          readFileSync(`${checkout}test/${name}`, "utf8").match(
            /\b(?:TEST|SIMULATION|WRITE|REPORT|IMPORT)_[A-Z_]+\b/g,
          ) ?? [],
      );
    const [, variables = ""] = markdown.split("| variable |");
    const listed = named(variables.split("\n\n")[0] ?? "", /^([A-Z]+_[A-Z_]+)$/g);
    expect([...listed].filter((name) => name !== "WAYBILL_INSTALL").sort()).to.deep.equal([...new Set(known)].sort());
  });
});
