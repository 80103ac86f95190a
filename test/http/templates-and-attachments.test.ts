import { expect } from "chai";
import { decodeContent, digestOf } from "../../src/content/encode-content.ts";
import { readMail, textIn } from "../support/read-mail.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";

const bob = { email: "bob@example.com", variables: { name: "Bob" } };
const file = { filename: "hi.txt", contentType: "text/plain", content: Buffer.from("hi").toString("base64") };

describe("A mailing with a template or attachments", () => {
  let api: RunningApi;

  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const post = (more: object, headers: Record<string, string> = {}) =>
    api.ask("POST", "/api/jobs", { body: { ...mailing, ...more }, headers });
  const storedContent = () => decodeContent(api.stored.at(-1) ?? new Uint8Array());

  it("is stored with the variables of each recipient, the first of an address", async () => {
    const recipients = [bob, { email: "BOB@example.com", variables: { name: "Robert" } }];
    expect((await post({ subject: "Hi {{ name }}", recipients })).body).to.include({ duplicates: 1 });
    expect(storedContent()).to.deep.include({ template: "liquid", subject: "Hi {{ name }}", recipients: [bob] });
  });

  it("is stored as what it is without a template, variables or not", async () => {
    await post({ recipients: [bob], body: "Hello { name } %}" });
    expect(storedContent()).not.to.have.any.keys("template", "attachments");
  });

  it("hears which recipients its template does not fit, as they stand in the request", async () => {
    const { status, body } = await post({
      body: "<p>Hi {{ name }}</p>",
      recipients: [bob, "bob@example.com", "ada@example.com", { email: "cy@example.com", variables: { nam: 1 } }],
    });
    expect(status).to.equal(400);
    expect(body.errors).to.deep.equal([
      {
        pointer: "/recipients/2",
        message: "recipients[2] cannot fill in body at line 1, column 10: undefined variable: name",
      },
      {
        pointer: "/recipients/3",
        message: "recipients[3] cannot fill in body at line 1, column 10: undefined variable: name",
      },
    ]);
    expect(api.stored).to.deep.equal([]);
  });

  it("is another mailing with other variables: its idempotency key is refused", async () => {
    const key = { "Idempotency-Key": "k1" };
    const body = { subject: "Hi {{ name }}", recipients: [bob] };
    expect((await post(body, key)).status).to.equal(201);
    expect((await post(body, key)).headers.get("Idempotency-Replayed")).to.equal("true");
    const other = { ...body, recipients: [{ ...bob, variables: { name: "Rob" } }] };
    expect((await post(other, key)).body.code).to.equal("idempotency-key-reused");
  });

  it("has its attachments stored apart, under their digests, before it is accepted", async () => {
    const { status, body } = await post({ attachments: [file, { ...file, filename: "a.png", contentId: "logo" }] });
    expect(status).to.equal(201);
    const sha256 = digestOf("hi");
    expect(storedContent().attachments).to.deep.equal([
      { filename: "hi.txt", contentType: "text/plain", contentId: null, size: 2, sha256 },
      { filename: "a.png", contentType: "text/plain", contentId: "logo", size: 2, sha256 },
    ]);
    const stored = await api.contentStore.attachments.get({ tenant: "default", jobId: body.jobId }, sha256);
    expect(stored?.toString()).to.equal("hi");
  });

  it("may have 5 MB of attachments, and not a byte more", async () => {
    const content = (bytes: number) => Buffer.alloc(bytes, 1).toString("base64");
    const half = 5 * 512 * 1024;
    expect(
      (await post({ attachments: [half, half].map((size) => ({ ...file, content: content(size) })) })).status,
    ).to.equal(201);
    const { status, body } = await post({
      attachments: [half, half + 1].map((size) => ({ ...file, content: content(size) })),
    });
    expect({ status, code: body.code }).to.deep.equal({ status: 413, code: "content-too-large" });
    expect(body.detail).to.match(/^The attachments take 5242881 bytes together; expected at most 5242880\.$/);
    expect(api.stored).to.have.length(1);
  });

  it("as a dry run is answered with its first mail, and nothing is stored", async () => {
    const { status, body } = await post(
      {
        dryRun: true,
        subject: "Hi {{ name }}",
        body: "<p>Hello {{ name }}</p>",
        replyTo: "help@example.org",
        headers: { "X-Campaign": "7" },
        recipients: [
          { ...bob, variables: { name: "Bob & <Co>" } },
          "bob@example.com",
          { email: "ada@example.com", variables: { name: "Ada" } },
        ],
        attachments: [file],
      },
      { "Idempotency-Key": "k1" },
    );
    expect(status).to.equal(200);
    expect(body).to.deep.include({ dryRun: true, recipients: 2, duplicates: 1, warnings: [] });
    const { raw, size, ...mail } = body.mail;
    expect(mail).to.deep.equal({
      from: "Waybill <waybill@example.org>",
      to: "bob@example.com",
      replyTo: "help@example.org",
      subject: "Hi Bob & <Co>",
      html: "<p>Hello Bob &amp; &lt;Co&gt;</p>",
      text: "Hello Bob & <Co>",
      headers: { "X-Campaign": "7" },
      attachments: [
        { filename: "hi.txt", contentType: "text/plain", contentId: null, size: 2, sha256: digestOf("hi") },
      ],
    });
    const read = readMail(Buffer.from(raw));
    expect(read.subject).to.equal(mail.subject);
    expect(textIn(read, "text/html")).to.equal(mail.html);
    expect(read.parts.map(({ type, content }) => [type, content.length])).to.deep.equal([
      ["text/plain", 16],
      ["text/html", mail.html.length],
      ["text/plain", 2],
    ]);
    expect(raw)
      .to.match(/^X-Campaign: 7\r\n/)
      .and.match(/\r\nReply-To: help@example.org\r\n/);
    expect(size).to.equal(Buffer.byteLength(raw));
    expect((await api.log.state()).lastSequence).to.equal(0);
    expect(api.stored).to.deep.equal([]);
  });

  it("as a dry run hears the same faults as it would otherwise", async () => {
    const { status, body } = await post({ dryRun: true, subject: "{{ name }}", recipients: ["ada@"] });
    expect({ status, code: body.code }).to.deep.equal({ status: 400, code: "validation-failed" });
    expect((await post({ dryRun: true, subject: "{{ name }}" })).status).to.equal(400);
    expect((await post({ dryRun: false })).status).to.equal(201);
  });
});
