import { expect } from "chai";
import { readPage } from "./read-page.ts";
import { ofDevelopers, ofOthers } from "./sentences-about-mailings.ts";

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** The prose of a section, without blocks, tables and headings: paragraphs and items, sentence by sentence. */
function sentencesIn(markdown: string, section: string): readonly string[] {
  const [, rest = ""] = markdown.split(`\n## ${section}\n`);
  const [text = ""] = rest.split("\n## ");
  const prose = text
    .replace(/```[\s\S]*?```/g, "\n")
    .replace(/<!--.*?-->/g, "")
    .replace(/^[#|].*$/gm, "");
  return prose
    .split(/\n\s*\n|\n(?=- )/)
    .map((paragraph) => oneLine(paragraph.replace(/^- /, "")))
    .flatMap((paragraph) => paragraph.split(/(?<=[.:]) (?=[A-Z`[*])/))
    .filter((sentence) => sentence !== "");
}

describe("Every sentence about mailings", () => {
  let guide: string;

  before(async () => {
    guide = await readPage("ops/guides/application-developer.md");
  });

  for (const [section, executed] of Object.entries(ofDevelopers)) {
    it(`under “${section}” in the guide for application developers is executed by a test`, () => {
      const sentences = sentencesIn(guide, section);
      const begun = executed.map(([sentence], index) => sentences[index]?.slice(0, sentence.length));
      expect(begun).to.deep.equal(executed.map(([sentence]) => sentence));
      expect(sentences.slice(executed.length), "sentences that no test is named for").to.deep.equal([]);
    });
  }

  it("in the other guides is there", async () => {
    for (const [page, executed] of Object.entries(ofOthers)) {
      const text = oneLine(await readPage(`ops/guides/${page}.md`));
      for (const [sentence] of executed) expect(text, page).to.include(sentence);
    }
  });

  it("names a test that there is", async () => {
    const missing: string[] = [];
    for (const [sentence, file, title] of [...Object.values(ofDevelopers), ...Object.values(ofOthers)].flat()) {
      if (!(await readPage(file)).includes(title)) missing.push(`${sentence}: ${file}, ${title}`);
    }
    expect(missing).to.deep.equal([]);
  });
});
