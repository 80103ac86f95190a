import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { readTextFile, whyNoFile } from "../../../src/cli/client/file-failure.ts";
import { failureOf } from "../../support/failure-of.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

describe("A file with a letter", () => {
  const write = async (content: Buffer): Promise<string> => {
    const path = join(await temporaryFolder(), "letter.html");
    await writeFile(path, content);
    return path;
  };

  it("is read as UTF-8, without the mark that some editors put before it", async () => {
    const path = await write(Buffer.from("\u{FEFF}<p>Gr\u00fc\u00dfe</p>\n"));
    expect(await readTextFile(path)).to.equal("<p>Gr\u00fc\u00dfe</p>\n");
  });

  const others = {
    "Latin-1": Buffer.from("<p>Hello</p>\n<p>Gr\u00fc\u00dfe</p>\n", "latin1"),
    "UTF-16": Buffer.from("\u{FEFF}<p>Hello</p>\n", "utf16le"),
  };
  for (const [encoding, content] of Object.entries(others)) {
    it(`is refused in ${encoding}, of which every letter beyond ASCII would be mailed as a question mark`, async () => {
      const failure = await failureOf(readTextFile(await write(content)));
      expect(whyNoFile(failure)).to.equal(`line ${encoding === "UTF-16" ? 1 : 2} is not UTF-8`);
    });
  }
});
