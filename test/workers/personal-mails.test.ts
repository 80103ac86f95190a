import { expect } from "chai";
import type { ContentAttachment, JobContent } from "../../src/content/content-store.ts";
import { digestOf } from "../../src/content/encode-content.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { type ReadMail, readMail, textIn } from "../support/read-mail.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const template = { template: "liquid" as const };

describe("a mailing of which each recipient has words of their own", () => {
  let writeSide: WriteSide;
  let mailServer: TestMailServer;

  before(async () => {
    writeSide = await startWriteSide();
    mailServer = await startMailServer();
    writeSide.startScheduler();
    writeSide.startWorker(mailServer.url);
  });

  after(async () => {
    await writeSide.cleanUp();
    await mailServer.stop();
  });

  beforeEach(() => mailServer.forgetMails());

  const ended = (job: JobRef) =>
    eventually(async () => {
      const view = await writeSide.readView(job);
      expect(view.completedAt).not.to.equal(null);
      return view;
    });

  const send = async (people: Readonly<Record<string, object>>, content: Partial<JobContent>) => {
    const recipients = Object.entries(people).map(([email, given]) => ({ email, variables: { ...given } }));
    const job = await writeSide.createJob(Object.keys(people), {}, { ...template, recipients, ...content });
    return { job, view: await ended(job) };
  };

  const mailTo = (address: string): ReadMail =>
    readMail(mailServer.mails.find(({ to }) => to.includes(address))?.raw ?? Buffer.alloc(0));

  const attach = async (job: JobRef, files: Readonly<Record<string, Buffer>>): Promise<ContentAttachment[]> => {
    const named: ContentAttachment[] = [];
    for (const [filename, bytes] of Object.entries(files)) {
      const sha256 = digestOf(bytes);
      await writeSide.contentStore.attachments.put(job, sha256, bytes);
      named.push({ filename, contentType: "application/pdf", contentId: null, size: bytes.length, sha256 });
    }
    return named;
  };

  it("brings each of them theirs, in the subject, the HTML and the text made of it", async () => {
    const people = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`p${index}@example.com`, { name: `<Ada & ${index} Grüße>` }]),
    );
    await send(people, { subject: "For {{ name }}", html: "<p>Hello <b>{{ name }}</b></p>" });
    expect(mailServer.mails).to.have.length(40);
    for (const index of [0, 7, 39]) {
      const mail = mailTo(`p${index}@example.com`);
      expect(mail.subject).to.equal(`For <Ada & ${index} Grüße>`);
      expect(textIn(mail, "text/html")).to.equal(`<p>Hello <b>&lt;Ada &amp; ${index} Grüße&gt;</b></p>`);
      expect(textIn(mail, "text/plain")).to.equal(`Hello <Ada & ${index} Grüße>`);
    }
  });

  it("fails the recipient whose variables do not fill it in, and no other", async () => {
    const { job, view } = await send(
      { "ada@example.com": { name: "Ada" }, "bob@example.com": { nmae: "secret" }, "cy@example.com": { name: "Cy" } },
      { html: null, text: "Hello {{ name }}" },
    );
    expect(view.status).to.equal("completed");
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal(["ada@example.com", "cy@example.com"]);
    const failed = (await writeSide.log.readRecipients(job)).flatMap(({ event }) =>
      event.type === "RecipientFailed" ? [event.data] : [],
    );
    expect(failed).to.have.length(1);
    expect(failed[0]).to.deep.include({
      recipient: 1,
      error: {
        code: "template-failed",
        message: "The variables of this recipient cannot fill in the text at line 1, column 10.",
        replyCode: null,
        statusCode: null,
      },
    });
  });

  it("fails the recipient whose variables make it run without end, and no other", async () => {
    const text = "{% for i in (1..n) %}{% for j in (1..n) %}{% endfor %}{% endfor %}Hello";
    const { view } = await send(
      { "ada@example.com": { n: 1 }, "eve@example.com": { n: 90_000 }, "bob@example.com": { n: 2 } },
      { html: null, text },
    );
    expect(view.status).to.equal("completed");
    expect(mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal(["ada@example.com", "bob@example.com"]);
  });

  it("is sent with its braces where its content does not say that it is a template", async () => {
    const job = await writeSide.createJob(["ada@example.com"], {}, { html: null, text: "Hello {{ name }}" });
    await ended(job);
    expect(textIn(mailTo("ada@example.com"), "text/plain")).to.equal("Hello {{ name }}");
  });

  it("has a text part beside HTML that came alone", async () => {
    await ended(
      await writeSide.createJob(["ada@example.com"], {}, { html: "<p>See <a href='https://a.example'>us</a>" }),
    );
    expect(textIn(mailTo("ada@example.com"), "text/plain")).to.equal("See us [https://a.example]");
  });

  it("brings its attachments, large ones too, whole and to every recipient", async () => {
    const files = { "Rechnung für Köln.pdf": Buffer.alloc(3_000_000, "1234567"), "empty.pdf": Buffer.alloc(0) };
    const people = Array.from({ length: 8 }, (_, index) => `p${index}@example.com`);
    const recipients = people.map((email) => ({ email, variables: { name: email } }));
    const jobId = `job-${Number((await writeSide.createJob([])).jobId.slice(4)) + 1}`;
    const attachments = await attach({ tenant: "default", jobId }, files);
    const content = { ...template, recipients, attachments, html: null, text: "Hello {{ name }}" };
    const job = await writeSide.createJob(people, {}, content);
    expect(job.jobId).to.equal(jobId);
    expect((await ended(job)).status).to.equal("completed");
    for (const to of people) {
      const mail = mailTo(to);
      expect(textIn(mail, "text/plain")).to.equal(`Hello ${to}`);
      const attached = mail.parts
        .filter(({ type }) => type === "application/pdf")
        .map((part) => digestOf(part.content));
      expect(attached).to.deep.equal(attachments.map(({ sha256 }) => sha256));
    }
  });

  it("fails as a whole, without a mail, when an attachment is lost", async () => {
    const lost = {
      filename: "a.pdf",
      contentType: "application/pdf",
      contentId: null,
      size: 1,
      sha256: "0".repeat(64),
    };
    const job = await writeSide.createJob(["ada@example.com"], {}, { attachments: [lost] });
    const view = await ended(job);
    expect(view).to.deep.include({ status: "failed" });
    expect(view.error?.code).to.equal("attachments-lost");
    expect(mailServer.mails).to.have.length(0);
  });
});
