import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { JobContent } from "../../src/content/content-store.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { jobCreated, now, recipientSent } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { newJob } from "../support/happen.ts";
import { exampleJobContent } from "../support/read-side.ts";

const ada = "ada@example.com";

describe("The export of what is known of a person", () => {
  let service: ApiWithReadSide;

  beforeEach(async () => {
    service = await startApiWithReadSide();
  });
  afterEach(() => service.close());

  const mailToBoth = async (content: Partial<JobContent> | null, tenant = "default"): Promise<JobRef> => {
    const job = newJob(tenant);
    if (content !== null) {
      const bob = { email: "bob@example.com", variables: { name: "Robert" } };
      const recipients = [bob, { email: "Ada@example.com", variables: { name: "Ada" } }];
      await service.readSide.storeContent(job, { recipients, ...content });
    }
    await service.readSide.happens(job, jobCreated({ total: 2 }));
    return job;
  };
  const project = async (): Promise<void> => {
    service.readSide.startProjector(jobsProjector);
    await service.readSide.caughtUp("jobs");
  };
  const ask = () => service.api.ask("GET", `/api/recipients/export?email=${ada}`);
  const exported = async () => {
    const response = await fetch(`${service.api.url}/api/recipients/export?email=${ada}`);
    const text = await response.text();
    return {
      response,
      text,
      lines: text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    };
  };

  it("is one file: what it is, each mailing with its history and content, and how many there were", async () => {
    const html = "<p>Hello {{ name }}</p>";
    const job = await mailToBoth({ subject: "For {{ name }}", html, template: "liquid", webhookUrl: "https://secret" });
    const sequence = await service.readSide.happens(job, recipientSent({ recipient: 1 }));
    const plain = await mailToBoth({ subject: "To all", html: null, text: "Hello" });
    await project();
    const { response, lines, text } = await exported();
    expect(response.status).to.equal(200);
    expect(response.headers.get("Content-Type")).to.equal("application/x-ndjson");
    expect(response.headers.get("Content-Disposition")).to.equal('attachment; filename="recipient.ndjson"');
    const [head, newest, oldest, end] = lines;
    expect(head).to.deep.equal({ kind: "recipient", email: ada, tenant: "default", exportedAt: now, readSequence: 3 });
    expect(newest).to.deep.include({ kind: "mailing", jobId: plain.jobId, status: "pending", history: [] });
    expect(newest.mail).to.deep.equal({ subject: "To all", html: null, text: "Hello" });
    expect(oldest).to.include({ kind: "mailing", jobId: job.jobId, email: "Ada@example.com", status: "sent" });
    expect(oldest.history[0]).to.deep.include({ sequence, status: "sent", response: "250 2.0.0 OK" });
    expect(oldest.variables).to.deep.equal({ name: "Ada" });
    const { recipients: _, ...given } = exampleJobContent;
    expect(oldest.content).to.deep.equal({ ...given, subject: "For {{ name }}", html, template: "liquid" });
    expect(oldest.mail).to.include({ subject: "For Ada", html: "<p>Hello Ada</p>" });
    expect(end).to.deep.equal({ kind: "end", mailings: 2 });
    expect(text).not.to.match(/bob@|Robert|secret/);
  });

  it("says so where the content was erased, or a template cannot be filled in", async () => {
    await mailToBoth({ html: "{{ missing }}", template: "liquid" });
    const erased = await mailToBoth({});
    await project();
    service.api.contentStore.get = erasing(service.api.contentStore.get, erased);
    const { lines } = await exported();
    expect(lines[1]).to.deep.include({ jobId: erased.jobId, variables: null, content: null, mail: null });
    expect(lines[2]).to.deep.include({ variables: { name: "Ada" }, mail: null });
  });

  it("holds every mailing, however many there are", async function () {
    this.timeout(120_000);
    for (let count = 0; count < 230; count += 1) await mailToBoth({ subject: `Mail ${count}` });
    await mailToBoth({ subject: "Theirs" }, "other");
    await project();
    const { lines } = await exported();
    expect(new Set(lines.map(({ subject }) => subject).filter(Boolean)).size).to.equal(230);
    expect(lines.at(-1)).to.deep.equal({ kind: "end", mailings: 230 });
  });

  it("is empty, and whole, where nothing is known", async () => {
    await mailToBoth({}, "other");
    await project();
    const { lines } = await exported();
    expect(lines.map(({ kind }) => kind)).to.deep.equal(["recipient", "end"]);
  });

  it("breaks off where a content cannot be read, so that it cannot pass for complete", async () => {
    await mailToBoth({});
    await project();
    service.api.contentStore.get = async () => {
      throw new Unavailable("It is away.");
    };
    expect(await failureOf(exported())).to.be.instanceOf(Error);
  });

  it("is refused for now where not all that has happened is in it", async () => {
    await mailToBoth({});
    const { status, body } = await ask();
    expect({ status, code: body.code }).to.deep.equal({ status: 503, code: "read-model-behind" });
  });

  it("is refused without an address, and in another form", async () => {
    expect((await service.api.ask("GET", "/api/recipients/export")).status).to.equal(400);
    const headers = { Accept: "text/csv" };
    const { status } = await service.api.ask("GET", `/api/recipients/export?email=${ada}`, { headers });
    expect(status).to.equal(406);
  });
});

const erasing =
  (get: (job: JobRef) => Promise<Uint8Array | null>, erased: JobRef) =>
  (job: JobRef): Promise<Uint8Array | null> =>
    job.jobId === erased.jobId ? Promise.resolve(null) : get(job);
