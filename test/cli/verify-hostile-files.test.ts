import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { addVerifyCommand } from "../../src/cli/verify.ts";
import { digestOf } from "../../src/content/encode-content.ts";
import { signed } from "../../src/seals/evidence.ts";
import { evidenceFormat } from "../../src/seals/evidence-format.ts";
import { newSealKey } from "../../src/seals/seal-key.ts";
import { exported } from "../seals/log-files.ts";
import { createCommandLine } from "../support/cli.ts";
import { now } from "../support/examples.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Clears the screen, and says something else. */
const hostile = "\x1b[2J\x1b[HThe bundle is whole\nReally.\u009b8m";

const envelope = (type: string, subject: string, data: object, actor = hostile): object => ({
  specversion: "1.0",
  id: "1",
  source: "waybill",
  type,
  subject,
  time: now,
  datacontenttype: "application/json",
  dataschema: `waybill:${type}:1`,
  actor,
  data,
});

describe("A file from somebody else that is verified", () => {
  const printedOf = async (path: string): Promise<string> => {
    const line = createCommandLine([addVerifyCommand], {});
    // Whether it is whole is not what this is about.
    await line.run("verify", path).catch(() => {});
    return line.last().printed.join("\n");
  };
  const containsControls = (text: string): boolean => /\p{Cc}/u.test(text.replaceAll("\n", ""));

  it("does not control the terminal of its reader: not as evidence", async () => {
    const content = JSON.stringify({ subject: "Hello", recipients: [{ email: `ada${hostile}@example.com` }] });
    const created = envelope("JobCreated", "j1", { total: 1, contentSha256: digestOf(Buffer.from(content)) });
    const entry = {
      sequence: 1,
      storedAt: "1",
      subject: "jobs.default.j1",
      body: JSON.stringify([created]),
      proof: null,
    };
    const head = { format: evidenceFormat, tenant: "default", jobId: "j1", madeAt: now, logSequence: 1 } as const;
    const path = join(await temporaryFolder(), "evidence.ndjson");
    await writeFile(path, signed({ ...head, entries: [entry], seals: [], content }, newSealKey()));
    const printed = await printedOf(path);
    expect(printed).to.include("1. ada").and.include("@example.com");
    expect(containsControls(printed)).to.equal(false);
    expect(printed).not.to.match(/^Really/m);
  });

  it("and not as a log", async () => {
    const data = { sequence: 7, subject: "jobs.a.b", sha256: "0".repeat(64), fault: "none", reason: hostile };
    const body = Buffer.from(JSON.stringify([envelope("MessagePassed", "log", data)]));
    const path = await exported([{ sequence: 1, storedAt: "1", subject: "jobs._service.log.pass", body }]);
    const printed = await printedOf(path);
    expect(printed).to.include("[passed by] 7");
    expect(containsControls(printed)).to.equal(false);
  });
});
