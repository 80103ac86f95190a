import { expect } from "chai";
import type { ContentStore, JobContent } from "../../../src/content/content-store.ts";
import { showFirstMail, showMail } from "../../../src/job-kinds/email/show-mail.ts";
import type { Draft, ShowPorts } from "../../../src/job-kinds/job-kind.ts";
import { now } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";

const text = "one\n.two\n..three\n.\n";
const content: JobContent = {
  name: null,
  metadata: {},
  subject: "Dots",
  html: null,
  text,
  from: null,
  replyTo: null,
  headers: { ".X": "first" },
  recipients: [{ email: "ada@example.com" }],
};
const mail: ShowPorts["mail"] = {
  mailFrom: "shop@example.com",
  dkim: null,
  publicUrl: null,
  returnPaths: null,
};
const ports: ShowPorts = { contentStore: {} as ContentStore, mail };
const bodyOf = (raw: string): string => raw.slice(raw.indexOf("\r\n\r\n") + 4);
const onTheWire = text.replaceAll("\n", "\r\n");

describe("a mail that is shown", () => {
  it("has the dots that its lines begin with once, as its recipient has them", async () => {
    const recipient = { email: "ada@example.com" };
    const shown = await showMail({ job: newJob(), content, index: 0, recipient }, ports, now);
    if (typeof shown === "string") throw new Error(shown);
    const raw = Buffer.from(shown.bytes).toString();
    expect(bodyOf(raw)).to.equal(onTheWire);
    expect(raw).to.match(/^\.x: first\r$/m);
  });

  it("has them once in a dry run, and is as long as its recipient's", async () => {
    const draft = { job: newJob(), settings: { total: 1, duplicates: 0 }, decoded: content, attachments: [] };
    const { mail } = (await showFirstMail(draft as unknown as Draft, ports, now)) as {
      readonly mail: { readonly raw: string; readonly size: number };
    };
    expect(bodyOf(mail.raw)).to.equal(onTheWire);
    expect(mail.size).to.equal(Buffer.byteLength(mail.raw));
  });
});
