import { expect } from "chai";
import { readMail, textIn } from "../support/read-mail.ts";
import { type Answered, mailing, type RunningApi, startApi } from "../support/running-api.ts";

const template = {
  subject: "Hi {{ name }}",
  body: '<p>Hello {{ name }}</p><a href="{{ unsubscribeUrl }}">No more</a>',
  unsubscribe: true,
  recipients: [
    { email: "ada@example.com", variables: { name: "Ada" } },
    { email: "bob@example.com", variables: { name: "Bob & <Co>" } },
  ],
  attachments: [{ filename: "hi.txt", contentType: "text/plain", content: Buffer.from("hi").toString("base64") }],
};

describe("The mail to a recipient of a job", () => {
  let api: RunningApi;

  before(async () => {
    api = await startApi();
  });
  after(() => api.close());

  const create = async (body: object): Promise<string> => (await api.ask("POST", "/api/jobs", { body })).body.jobId;
  const mailTo = (jobId: string, recipient: number | string): Promise<Answered> =>
    api.ask("GET", `/api/jobs/${jobId}/recipients/${recipient}/mail`);

  it("is made again for this recipient, with its attachments", async () => {
    const { status, headers, body } = await mailTo(await create(template), 1);
    expect([status, headers.get("Content-Type")]).to.deep.equal([200, "message/rfc822"]);
    expect(headers.get("Cache-Control")).to.equal("no-store");
    const read = readMail(Buffer.from(body));
    expect(read.subject).to.equal("Hi Bob & <Co>");
    expect(textIn(read, "text/html")).to.contain("<p>Hello Bob &amp; &lt;Co&gt;</p>");
    expect(textIn(read, "text/plain")).to.contain("Hello Bob & <Co>");
    expect(read.parts.at(-1)?.content.toString()).to.equal("hi");
    expect(body).to.contain("To: bob@example.com").and.not.contain("ada@example.com");
  });

  it("has the Message-ID that was sent, and a link without effect", async () => {
    const jobId = await create(template);
    const [first, again] = [await mailTo(jobId, 0), await mailTo(jobId, 0)];
    const idOf = ({ body }: Answered) => /^Message-ID: (.+)$/im.exec(body)?.[1];
    expect(idOf(first)).to.match(/^<.+@example\.org>/);
    expect(idOf(again)).to.equal(idOf(first));
    expect(textIn(readMail(Buffer.from(first.body)), "text/html")).to.contain("/unsubscribe/example");
  });

  it("is the same for all where there is no template, braces and all", async () => {
    const { body } = await mailTo(await create({ ...mailing, body: "Hello { name }" }), 0);
    expect(textIn(readMail(Buffer.from(body)), "text/plain")).to.equal("Hello { name }");
  });

  it("is not there of a recipient that the job does not have, or that is none", async () => {
    const jobId = await create(mailing);
    for (const recipient of [1, -1, "0x0", "9999999999999999", "ada@example.com"]) {
      const { status, body } = await mailTo(jobId, recipient);
      expect({ status, code: body.code }, String(recipient)).to.deep.equal({ status: 404, code: "mail-not-found" });
    }
  });

  it("is not there of what is no mail", async () => {
    const payload = { event: "order.paid", data: {} };
    const jobId = await create({ type: "webhook.deliver", payload, recipients: ["https://hooks.example.com/a"] });
    expect((await mailTo(jobId, 0)).body).to.include({ code: "mail-not-found", detail: "This job sends no mail." });
  });

  it("is not there once it was erased", async () => {
    const jobId = await create(mailing);
    await api.contentStore.erase({ tenant: "default", jobId });
    const { status, body } = await mailTo(jobId, 0);
    expect({ status, code: body.code }).to.deep.equal({ status: 404, code: "mail-not-found" });
  });

  it("is not there of no job", async () => {
    for (const jobId of ["00000000-0000-4000-8000-000000000000", "x"]) {
      const { status, body } = await mailTo(jobId, 0);
      expect({ status, code: body.code }).to.deep.equal({ status: 404, code: "job-not-found" });
    }
  });

  it("leaves no address in what the process logs", () => {
    expect(api.logged.join("\n")).not.to.match(/ada@|bob@/);
  });
});
