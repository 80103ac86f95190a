import { writeFile } from "node:fs/promises";
import { expect } from "chai";
import type { Option } from "commander";
import { allCommands, type KnownCommand, runProgram } from "../support/command-tree.ts";
import { checkout, readPage } from "./read-page.ts";

const page = "ops/guides/reference/commands.md";

/** Above it people write; below it stands what the program says of itself. */
const border = "<!-- below: written by WRITE_DOCS=1 npx mocha test/pages/commands.test.ts -->\n";

const inCell = (text: string): string => text.replaceAll("|", "\\|");

const meaningOf = ({ description, defaultValue }: Option): string =>
  defaultValue === undefined ? description : `${description} (default: \`${defaultValue}\`)`;

async function sectionOf({ name, description, options, parameters, isGroup }: KnownCommand): Promise<string> {
  if (isGroup) return `## ${name}\n\n${description}\n`;
  const arguments_ = parameters.map((parameter) => {
    const word = `${parameter.name()}${parameter.variadic ? "..." : ""}`;
    return [parameter.required ? `<${word}>` : `[${word}]`, parameter.description] as const;
  });
  const words = [...arguments_, ...options.map((option) => [option.flags, meaningOf(option)] as const)];
  const usage = ["waybill", name, ...arguments_.map(([word]) => word), ...(options.length > 0 ? ["[options]"] : [])];
  const [exits = ""] = /Exit code: .+$/m.exec((await runProgram([...name.split(" "), "--help"])).out) ?? [];
  return [
    `${name.includes(" ") ? "###" : "##"} ${name}\n`,
    `\`${usage.join(" ")}\`: ${description}\n`,
    ...(words.length === 0 ? [] : ["| word | meaning |", "| --- | --- |"]),
    ...words.map(([word, meaning]) => `| \`${inCell(word)}\` | ${inCell(meaning)} |`),
    `${words.length === 0 ? "" : "\n"}${exits}\n`,
  ].join("\n");
}

describe("The reference of commands", () => {
  it("says of every command what its help says", async () => {
    const [byHand = ""] = (await readPage(page)).split(border);
    const sections: string[] = [];
    for (const command of await allCommands()) sections.push(await sectionOf(command));
    const wanted = `${byHand}${border}\n${sections.join("\n")}`;
    if (process.env["WRITE_DOCS"] === "1") await writeFile(`${checkout}${page}`, wanted);
    expect(await readPage(page), "see the comment in the page").to.equal(wanted);
  });
});
