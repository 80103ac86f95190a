import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Block, readBlocks } from "../../docs/blocks.ts";

export const guide = "ops/guides/operator.md";
const thisTest = "test/cluster/guide/guide.test.ts";

const text = readFileSync(fileURLToPath(new URL(`../../../${guide}`, import.meta.url)), "utf8");

/** The blocks that the guide leaves to this test, by the heading that they stand under. */
export const blocksByHeading: ReadonlyMap<string, readonly Block[]> = byHeading();

function byHeading(): ReadonlyMap<string, readonly Block[]> {
  const found = new Map<string, Block[]>();
  for (const block of readBlocks(text)) {
    if (block.directive?.kind !== "elsewhere" || block.directive.file !== thisTest) continue;
    const heading = headingAbove(block.line);
    found.set(heading, [...(found.get(heading) ?? []), block]);
  }
  return found;
}

/** A comment in a block of bash begins like a heading, with one `#`; the guide's headings have two or three. */
function headingAbove(line: number): string {
  const above = text.split("\n").slice(0, line - 1);
  return /^###? (.+)$/.exec(above.findLast((one) => /^###? /.test(one)) ?? "")?.[1] ?? "";
}

export const guideText = text;
