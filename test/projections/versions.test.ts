import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { allProjectors } from "../../projections/all-projectors.ts";
import type { Projector } from "../../projections/projector.ts";

type Recorded = Readonly<Record<string, { readonly version: number; readonly tables: string }>>;

const file = new URL("versions.json", import.meta.url);
const recorded: Recorded = JSON.parse(readFileSync(file, "utf8"));

const digestOf = ({ tables, queryKeys, views }: Projector): string =>
  createHash("sha256")
    .update(JSON.stringify([tables, queryKeys, views]))
    .digest("hex")
    .slice(0, 16);

/** Tables that changed without a new version keep what was recorded of them. */
function record(): void {
  const present = allProjectors.map((projector) => {
    const { name, version } = projector;
    const before = recorded[name];
    const isForgotten = before !== undefined && version <= before.version;
    return [name, isForgotten ? before : { version, tables: digestOf(projector) }] as const;
  });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(present), null, 2)}\n`);
}

if (process.env["WRITE_DOCS"] === "1") record();

describe("The version of a read model", () => {
  for (const projector of allProjectors) {
    it(`is raised when its tables change: ${projector.name}`, () => {
      const { name, version } = projector;
      const how = `raise the version of ${name}; then WRITE_DOCS=1 npx mocha test/projections/versions.test.ts records it`;
      expect({ version, tables: digestOf(projector) }, how).to.deep.equal(
        (JSON.parse(readFileSync(file, "utf8")) as Recorded)[name],
      );
    });
  }
});
