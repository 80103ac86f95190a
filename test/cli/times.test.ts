import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { runProgram } from "../support/command-tree.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("A time on the command line", () => {
  let folder: string;
  before(async () => {
    folder = await temporaryFolder();
    await writeFile(join(folder, "letter.txt"), "Hello");
    await writeFile(join(folder, "list.csv"), "email\nada@example.com\n");
  });
  /** No server is named: what is taken for a time is missed next. */
  const run = (...words: readonly string[]) =>
    runProgram(words, { DATA_DIR: folder, WAYBILL_URL: "http://127.0.0.1:1" });
  const archive = (before: string) => run("archive", "--before", before, "--to", folder);
  const send = (scheduledAt: string) => {
    const [text, csv] = [join(folder, "letter.txt"), join(folder, "list.csv")];
    return run("send", "--subject", "Hi", "--text", text, "--csv", csv, "--scheduled-at", scheduledAt, "--dry-run");
  };

  for (const moment of ["2026-02-30", "01/02/2026", "1", "2026-01-01 00:00"]) {
    it(`is none where it could be another one: ${moment}`, async () => {
      const { code, err } = await archive(moment);
      expect([code, err]).to.deep.equal([
        2,
        `--before is "${moment}"; expected a day such as 2026-01-01, or a time such as 2026-01-01T00:00:00Z`,
      ]);
    });
  }

  it("is a day or an instant to archive what is older", async () => {
    for (const moment of ["2026-01-01", "2026-01-01T00:00:00+01:00"]) expect((await archive(moment)).code).to.equal(1);
  });

  it("is refused before recipients are uploaded, where the service would refuse it after that", async () => {
    for (const moment of ["2030-01-31", "2030-01-31 09:30"]) {
      const { code, err } = await send(moment);
      expect([code, err]).to.deep.equal([
        2,
        `--scheduled-at is "${moment}"; expected a time such as 2030-01-31T09:30:00Z`,
      ]);
    }
    expect((await send("2030-01-31T09:30:00Z")).code).to.equal(1);
  });
});
