import { expect } from "chai";
import { decodeContent, digestOf } from "../../src/content/encode-content.ts";
import type { TemplateStore } from "../../src/content/template-store.ts";
import type { JobSettings } from "../../src/domain/job/events.ts";
import { now } from "../support/examples.ts";
import { createMemoryTemplateStore } from "../support/memory/memory-template-store.ts";
import { type Answered, type RunningApi, startApi } from "../support/running-api.ts";

const letter = { subject: "Welcome, {{ name }}", body: "<p>Hello {{ name }}</p>" };
const newer = { ...letter, subject: "A warm welcome, {{ name }}" };

describe("A template", () => {
  let api: RunningApi;
  let templates: TemplateStore;

  beforeEach(async () => {
    templates = createMemoryTemplateStore();
    api = await startApi({ templates });
  });
  afterEach(() => api.close());

  const put = (body: unknown, name = "welcome") => api.ask("PUT", `/api/templates/${name}`, { body });
  const get = (path: string) => api.ask("GET", `/api/templates${path}`);
  const faultsOf = ({ body }: Answered) => body.errors?.map(({ message }: { message: string }) => message);

  it("gets a new version with each other letter, and keeps the old ones", async () => {
    const first = await put(letter);
    expect(first.status).to.equal(201);
    expect(first.body).to.include({ name: "welcome", version: 1, latest: 1, createdAt: now });
    expect((await put(newer)).body).to.include({ version: 2, latest: 2 });
    expect((await get("/welcome/versions/1")).body).to.deep.include({ version: 1, letter });
    const { body } = await get("/welcome");
    expect(body).to.deep.include({ name: "welcome", latest: 2, archivedAt: null, letter: newer });
    expect(body.versions.map(({ version }: { version: number }) => version)).to.deep.equal([1, 2]);
  });

  it("answers a letter that it has with its version, whatever the order of its fields", async () => {
    await put(letter);
    await put(newer);
    const again = await put({ body: letter.body, subject: `  ${letter.subject} ` });
    expect(again.status).to.equal(200);
    expect(again.body).to.include({ version: 1, latest: 2 });
  });

  it("holds what a mail has: both parts, sender, headers", async () => {
    const whole = {
      ...letter,
      text: "Hello",
      from: "A <a@example.org>",
      replyTo: "b@example.org",
      headers: { "X-A": "1" },
    };
    await put(whole);
    expect((await get("/welcome")).body.letter).to.deep.equal(whole);
  });

  it("is refused with all its faults: what is missing, what is unknown, and what cannot be read as a template", async () => {
    const refused = await put({ body: "Hi", recipients: ["ada@example.com"], colour: "red" });
    expect(refused.status).to.equal(400);
    expect(faultsOf(refused)).to.deep.equal([
      "colour does not belong to a template",
      "recipients does not belong to a template",
      "subject is missing; expected 1 to 200 characters after trimming, without control characters",
    ]);
    expect(faultsOf(await put({ ...letter, body: "{{ name" }))[0]).to.match(/^body cannot be read as a template/);
    expect(faultsOf(await put(letter, "Big"))[0]).to.match(/^the name in the path is "Big"/);
    expect((await put({ ...letter, body: "x".repeat(1_100_000) })).body.code).to.equal("content-too-large");
    expect((await get("")).body.data).to.deep.equal([]);
  });

  it("is listed in pages", async () => {
    for (const name of ["a", "b", "c"]) await put(letter, name);
    const first = await get("?limit=2");
    expect(first.body.data).to.deep.equal([
      { name: "a", latest: 1, versions: 1, updatedAt: now },
      { name: "b", latest: 1, versions: 1, updatedAt: now },
    ]);
    const second = await get(`?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body.data.map(({ name }: { name: string }) => name)).to.deep.equal(["c"]);
    expect(second.body.nextCursor).to.equal(null);
  });

  it("is not found under another name or version", async () => {
    await put(letter);
    for (const path of ["/other", "/welcome/versions/2", "/welcome/versions/0", "/welcome/versions/x", "/Welcome"]) {
      expect((await get(path)).body.code, path).to.equal("template-not-found");
    }
    const preview = await api.ask("POST", "/api/templates/welcome/preview", { body: { version: 2 } });
    expect(preview.body.code).to.equal("template-not-found");
    expect((await api.ask("DELETE", "/api/templates/other")).body.code).to.equal("template-not-found");
  });

  describe("that is previewed", () => {
    const preview = (body: object) => api.ask("POST", "/api/templates/welcome/preview", { body });

    it("is filled in, its latest version or an older one, and a text part is made", async () => {
      await put(letter);
      await put(newer);
      expect((await preview({ variables: { name: "Ada" } })).body).to.deep.equal({
        name: "welcome",
        version: 2,
        subject: "A warm welcome, Ada",
        html: "<p>Hello Ada</p>",
        text: "Hello Ada",
        warnings: [],
      });
      expect((await preview({ version: 1, variables: { name: "Bob" } })).body.subject).to.equal("Welcome, Bob");
      expect(api.stored).to.deep.equal([]);
    });

    it("says which variable is missing, and where", async () => {
      await put(letter);
      const refused = await preview({ variables: {} });
      expect(refused.status).to.equal(400);
      expect(refused.body.errors[0]).to.deep.include({ pointer: "/variables" });
      expect(faultsOf(refused)[0]).to.match(/^variables cannot fill in body at line 1, column \d+: .*name/);
    });

    it("is refused where the request is not valid", async () => {
      await put(letter);
      expect(faultsOf(await preview({ version: "1", email: "ada", colour: 1 }))).to.have.lengthOf(3);
    });
  });

  describe("that a job names", () => {
    const recipients = [{ email: "ada@example.com", variables: { name: "Ada" } }];
    const post = (body: object, key?: string) =>
      api.ask("POST", "/api/jobs", { body, headers: key === undefined ? {} : { "Idempotency-Key": key } });
    const settingsOf = async (jobId: string): Promise<JobSettings> => {
      const [created] = await api.log.readDecisions({ tenant: "default", jobId });
      return created?.event.data as JobSettings;
    };

    it("becomes its words, which the digest in the log covers, and the log says which version", async () => {
      const { sha256 } = (await put(letter)).body;
      await put(newer);
      const { status, body } = await post({ template: "welcome@1", recipients });
      expect(status).to.equal(201);
      const use = { name: "welcome", version: 1, sha256 };
      expect(body.template).to.deep.equal(use);
      const bytes = api.stored.at(-1) ?? new Uint8Array();
      expect(await settingsOf(body.jobId)).to.deep.include({ template: use, contentSha256: digestOf(bytes) });
      expect(decodeContent(bytes)).to.deep.include({
        subject: letter.subject,
        html: letter.body,
        template: "liquid",
        fromTemplate: use,
        recipients,
      });
    });

    it("has no attachments of its own, and leaves the job those that it has", async () => {
      const attachments = [
        { filename: "a.txt", contentType: "text/plain", content: Buffer.from("hi").toString("base64") },
      ];
      expect(faultsOf(await put({ ...letter, attachments }))).to.deep.equal([
        "attachments does not belong to a template",
      ]);
      await put(letter);
      expect((await post({ template: "welcome", recipients, attachments })).status).to.equal(201);
      const stored = decodeContent(api.stored.at(-1) ?? new Uint8Array());
      expect(stored.attachments?.map(({ filename }) => filename)).to.deep.equal(["a.txt"]);
    });

    it("is the latest version where the job names none", async () => {
      await put(letter);
      await put(newer);
      expect((await post({ template: "welcome", recipients })).body.template).to.include({ version: 2 });
      expect(decodeContent(api.stored.at(-1) ?? new Uint8Array()).subject).to.equal(newer.subject);
    });

    it("gives way to a sender that the job names itself", async () => {
      await put({ ...letter, from: "News <news@example.org>", replyTo: "desk@example.org" });
      await post({ template: "welcome", recipients, from: "Ada <ada@example.org>" });
      const content = decodeContent(api.stored.at(-1) ?? new Uint8Array());
      expect(content).to.include({ from: "Ada <ada@example.org>", replyTo: "desk@example.org" });
    });

    it("gives way to headers and to a link to unsubscribe that the job asks for itself", async () => {
      await put({ ...letter, headers: { "X-Kind": "greeting", "X-More": "1" }, unsubscribe: true });
      await post({ template: "welcome", recipients });
      const usual = decodeContent(api.stored.at(-1) ?? new Uint8Array());
      expect(usual).to.deep.include({ headers: { "X-Kind": "greeting", "X-More": "1" }, unsubscribe: true });
      await post({ template: "welcome", recipients, headers: { "X-Kind": "reminder" }, unsubscribe: false });
      const own = decodeContent(api.stored.at(-1) ?? new Uint8Array());
      expect(own.headers).to.deep.equal({ "X-Kind": "reminder" });
      expect(own).not.to.have.property("unsubscribe");
    });

    it("stays the same for a repeated request, though there is a newer version or the name is archived", async () => {
      await put(letter);
      const first = await post({ template: "welcome", recipients }, "order-17");
      await put(newer);
      const second = await post({ template: "welcome", recipients }, "order-17");
      expect({ status: second.status, body: second.body }).to.deep.equal({ status: 201, body: first.body });
      expect(second.headers.get("Idempotency-Replayed")).to.equal("true");
      await api.ask("DELETE", "/api/templates/welcome");
      expect((await post({ template: "welcome", recipients }, "order-17")).body).to.deep.equal(first.body);
      const other = await post({ template: "welcome@2", recipients }, "order-17");
      expect(other.body.code).to.equal("validation-failed");
      await put(newer);
      expect((await post({ template: "welcome@2", recipients }, "order-17")).body.code).to.equal(
        "idempotency-key-reused",
      );
    });

    it("stays the same where the process that stored the content died before it created the job", async () => {
      await put(letter);
      const made = await post({ template: "welcome", recipients }, "order-18");
      const content = api.stored.at(-1) ?? new Uint8Array();
      await put(newer);
      // The same content in a store whose log knows nothing of the job.
      const after = await startApi({ contentStore: api.contentStore, templates });
      try {
        const headers = { "Idempotency-Key": "order-18" };
        const again = await after.ask("POST", "/api/jobs", { body: { template: "welcome", recipients }, headers });
        expect(again.status).to.equal(201);
        expect(again.body).to.deep.equal(made.body);
        expect(decodeContent(content).subject).to.equal(letter.subject);
      } finally {
        await after.close();
      }
    });

    it("has to exist, and to be written as a name, with a version or without", async () => {
      await put(letter);
      const faults = async (template: unknown) => faultsOf(await post({ template, recipients }));
      expect(await faults("nothing")).to.deep.equal(['template is "nothing"; expected the name of a stored template']);
      expect(await faults("welcome@2")).to.deep.equal(['template is "welcome@2"; expected a version from 1 to 1']);
      for (const wrong of ["Welcome", "welcome@", "welcome@0", "a b", "", 7, null]) {
        expect((await faults(wrong))[0]).to.include("expected the name of a template such as welcome or welcome@3");
      }
      await api.ask("DELETE", "/api/templates/welcome");
      expect(await faults("welcome")).to.deep.equal(['template is "welcome"; but this template is archived']);
    });

    it("is refused beside words, and all other faults are named with it", async () => {
      const refused = await post({ template: "nothing", subject: "Hello", recipients: ["ada"], colour: "red" });
      expect(refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
        "/colour",
        "/recipients/0",
        "/subject",
        "/template",
      ]);
    });

    it("has to be filled in by every recipient's variables", async () => {
      await put(letter);
      const refused = await post({ template: "welcome", recipients: ["bob@example.com"] });
      expect(faultsOf(refused)[0]).to.match(/^recipients\[0\] cannot fill in body at line 1/);
    });

    it("is no field of a job of another kind", async () => {
      await put(letter);
      const refused = await post({
        type: "report.export",
        template: "welcome",
        payload: { of: "logs", format: "csv" },
      });
      expect(faultsOf(refused)).to.deep.equal(["template is not a known field"]);
    });

    it("can be tried out with a dry run", async () => {
      await put(letter);
      const { body } = await post({ template: "welcome", recipients, dryRun: true });
      expect(body.mail.subject).to.equal("Welcome, Ada");
    });
  });

  it("may be named by a mailing, whose letter it becomes", async () => {
    const { sha256 } = (await put(letter)).body;
    const headers = { "Idempotency-Key": "autumn" };
    const create = () => api.ask("POST", "/api/mailings", { body: { template: "welcome" }, headers });
    const first = await create();
    expect(first.status).to.equal(201);
    const use = { name: "welcome", version: 1, sha256 };
    expect(first.body.template).to.deep.equal(use);
    const mailing = { tenant: "default", jobId: first.body.mailingId };
    const [created] = await api.log.readMailing(mailing);
    expect(created?.event.data).to.deep.include({
      template: use,
      contentSha256: digestOf(api.stored.at(-1) ?? new Uint8Array()),
    });
    expect(decodeContent(api.stored.at(-1) ?? new Uint8Array())).to.include({ subject: letter.subject });
    await put(newer);
    const again = await create();
    expect(again.headers.get("Idempotency-Replayed")).to.equal("true");
    expect(again.body).to.deep.equal(first.body);
    const refused = await api.ask("POST", "/api/mailings", { body: { template: "nothing", recipients: [] } });
    expect(refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
      "/recipients",
      "/template",
    ]);
  });

  it("comes back from the archive with the next letter, which is a new version", async () => {
    await put(letter);
    const archived = await api.ask("DELETE", "/api/templates/welcome");
    expect(archived.body).to.deep.include({ archivedAt: now, letter });
    expect((await get("")).body.data).to.deep.equal([]);
    expect((await get("/welcome")).body.archivedAt).to.equal(now);
    expect((await put(newer)).body).to.include({ version: 2 });
    expect((await get("/welcome")).body.archivedAt).to.equal(null);
  });
});
