import { open, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { surveyRecipients, toNdjson, UnusableFile } from "../../../src/cli/client/read-recipients.ts";
import { failureOf } from "../../support/failure-of.ts";
import { runsOf } from "../../support/property-runs.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const rows = runsOf(20_000);
const filler = "x".repeat(500);

describe("A file of recipients, on its way to the service", () => {
  let path: string;
  const fileAt = (at: string) => ({ path: at, emailColumn: "email", delimiter: "," });

  const write = async (content: string): Promise<string> => {
    path = join(await temporaryFolder(), "readers.csv");
    await writeFile(path, content);
    return path;
  };
  const longFile = () => {
    const lines = Array.from({ length: rows }, (_, index) => `reader${index}@example.com,${filler}`);
    return write(["email,about", ...lines].join("\n"));
  };

  it("is passed on in small pieces, each of them reported once it was taken", async () => {
    const file = fileAt(await longFile());
    const survey = await surveyRecipients(file);
    expect(survey).to.deep.include({ rows, first: { email: "reader0@example.com", variables: { about: filler } } });
    let taken = 0;
    let read = 0;
    const onRows = (count: number): void => {
      taken = count;
    };
    for await (const chunk of toNdjson(file, survey.sha256, onRows)) {
      expect(chunk.length).to.be.lessThan(150_000);
      expect(taken).to.equal(read);
      read += chunk.toString().trim().split("\n").length;
    }
    expect([read, taken]).to.deep.equal([rows, rows]);
  });

  it("is not read ahead: a change of its end is noticed while its beginning is passed on", async () => {
    const file = fileAt(await longFile());
    const { sha256 } = await surveyRecipients(file);
    let pieces = 0;
    const reading = (async () => {
      for await (const _ of toNdjson(file, sha256, () => {})) {
        pieces += 1;
        if (pieces === 1) await changeEnd(path);
      }
    })();
    const failure = await failureOf(reading);
    expect(failure).to.be.instanceOf(UnusableFile);
    expect(failure.message).to.include("was changed while it was read");
    expect(pieces).to.be.greaterThan(10);
  });

  it("takes the column name for the names of recipients, and the others for variables", async () => {
    const file = fileAt(
      await write('email,name,town\na@example.com, Ada ,Paris\nb@example.com,,\nc@example.com,"C\nD",X\n'),
    );
    const { sha256 } = await surveyRecipients(file);
    let text = "";
    for await (const chunk of toNdjson(file, sha256, () => {})) text += Buffer.from(chunk).toString();
    expect(text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))).to.deep.equal([
      { email: "a@example.com", name: "Ada", variables: { town: "Paris" } },
      { email: "b@example.com", variables: { name: "", town: "" } },
      { email: "c@example.com", variables: { name: "C\nD", town: "X" } },
    ]);
  });

  it("names each recipient in the line that it has in the file", async () => {
    const file = fileAt(await write('\uFEFFemail,name\r\n\r\na@example.com,"A\nB"\r\n\r\nb@example.com,C'));
    const { sha256 } = await surveyRecipients(file);
    let text = "";
    for await (const chunk of toNdjson(file, sha256, () => {})) text += Buffer.from(chunk).toString();
    expect(text.split("\n").map((line) => (line === "" ? null : JSON.parse(line).email))).to.deep.equal([
      ...[null, null, null, "a@example.com", null, "b@example.com", null],
    ]);
  });

  it("ends before its last piece where it was changed since it was surveyed", async () => {
    const file = fileAt(await longFile());
    const { sha256 } = await surveyRecipients(file);
    await writeFile(path, "email\nother@example.com\n");
    const pieces: Uint8Array[] = [];
    const reading = (async () => {
      for await (const chunk of toNdjson(file, sha256, () => {})) pieces.push(chunk);
    })();
    expect(await failureOf(reading)).to.be.instanceOf(UnusableFile);
    expect(pieces).to.have.lengthOf(0);
  });
});

/** The last byte, in place. */
async function changeEnd(path: string): Promise<void> {
  const { size } = await stat(path);
  const file = await open(path, "r+");
  await file.write("y", size - 1);
  await file.close();
}
