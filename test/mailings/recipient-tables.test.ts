import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { surveyRecipients, toNdjson } from "../../src/cli/client/read-recipients.ts";
import { readRecipients } from "../../src/dashboard/ui/reading/recipients.ts";
import { kindOf } from "../../src/job-kinds/all-job-kinds.ts";
import { recipientLinesOf } from "../../src/mailings/recipient-lines.ts";
import { toCsvRecord } from "../../src/schemas/csv.ts";
import type { LineFile } from "../../src/schemas/line-file.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

type Type = LineFile["type"];

async function recipientsIn(type: Type, chunks: AsyncIterable<Uint8Array>): Promise<readonly unknown[]> {
  const read: unknown[] = [];
  for await (const line of recipientLinesOf({ type, chunks }, kindOf("email.send"))) {
    read.push("read" in line ? line.read : line.fault);
  }
  return read;
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function sentByCommand(text: string): Promise<readonly unknown[]> {
  const path = join(await temporaryFolder(), "readers.csv");
  await writeFile(path, text);
  const file = { path, emailColumn: "email", delimiter: "," };
  const { sha256 } = await surveyRecipients(file);
  return await recipientsIn(
    "application/x-ndjson",
    toNdjson(file, sha256, () => {}),
  );
}

describe("A table of recipients means the same in an import, in send --csv and in the dashboard", () => {
  const tables: readonly (readonly [string, string, readonly unknown[]])[] = [
    [
      "as an export of Waybill escapes it",
      [
        "email,phone\r\n",
        toCsvRecord(["+tag@example.com", "+49 30 1"]),
        toCsvRecord(["b@example.com", "'quoted'"]),
      ].join(""),
      [
        { email: "+tag@example.com", variables: { phone: "+49 30 1" } },
        { email: "b@example.com", variables: { phone: "'quoted'" } },
      ],
    ],
    [
      "with spaces around its cells",
      "email , city\n ada@example.com, Berlin \n",
      [{ email: "ada@example.com", variables: { city: "Berlin" } }],
    ],
    [
      "with a column without a name",
      "email,name,\nada@example.com,Ada,x\n",
      [{ email: "ada@example.com", name: "Ada" }],
    ],
    [
      "with two columns of addresses",
      "Email,name,email\nfirst@example.com,Ada,second@example.com\n",
      [{ email: "first@example.com", name: "Ada" }],
    ],
    [
      "with a column address beside the address",
      "address,email\n1 Main Street,ada@example.com\n",
      [{ email: "ada@example.com", variables: { address: "1 Main Street" } }],
    ],
  ];
  for (const [how, text, expected] of tables) {
    it(how, async () => {
      expect(await recipientsIn("text/csv", bytesOf(text)), "import").to.deep.equal(expected);
      expect(await sentByCommand(text), "send --csv").to.deep.equal(expected);
      expect(readRecipients(text), "dashboard").to.deep.equal(expected);
    });
  }
});
