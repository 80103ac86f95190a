import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const letter = { subject: "Your invoice", body: "Hello", name: "November", metadata: { campaign: "11" } };
const key = { "Idempotency-Key": "campaign-11" };

/** Without a read model: everything is answered from the log. */
describe("A mailing over HTTP", () => {
  let api: RunningApi;
  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const create = (body: unknown, headers = {}) => api.ask("POST", "/api/mailings", { body, headers });
  const put = (id: string, body: string | Uint8Array, headers: Record<string, string>) =>
    api.ask("PUT", `/api/mailings/${id}/recipients`, { body, headers });
  const ndjson = { "Content-Type": "application/x-ndjson" };

  it("is created once for a key, and shown as a draft", async () => {
    const first = await create(letter, key);
    expect([first.status, first.headers.get("Location")]).to.deep.equal([201, `/api/mailings/${first.body.mailingId}`]);
    const again = await create({ ...letter }, key);
    expect([again.status, again.body, again.headers.get("Idempotency-Replayed")]).to.deep.equal([
      201,
      first.body,
      "true",
    ]);
    const other = await create({ ...letter, subject: "Another" }, key);
    expect([other.status, other.body.code]).to.deep.equal([422, "idempotency-key-reused"]);
    const job = await api.ask("POST", "/api/jobs", {
      body: { ...letter, recipients: ["ada@example.com"] },
      headers: key,
    });
    expect(job.status).to.equal(201);
    expect(job.body.jobId).not.to.equal(first.body.mailingId);

    const { status, body } = await api.ask("GET", `/api/mailings/${first.body.mailingId}`);
    expect(status).to.equal(200);
    expect(body).to.deep.include({
      status: "draft",
      subject: "Your invoice",
      name: "November",
      metadata: { campaign: "11" },
      progress: {
        sent: 0,
        failed: 0,
        total: 0,
        pending: 0,
        deferred: 0,
        unknown: 0,
        suppressed: 0,
        bounced: 0,
        complained: 0,
      },
      startedAt: null,
    });
  });

  it("is answered as at first where the service would not take it any more, and another is not", async () => {
    await api.close();
    let routes = ["default", "second"];
    let isRoom = true;
    api = await startApi({ routesFor: () => routes, room: { isLeftForJobs: async () => isRoom } });
    const request = { ...letter, route: "second" };
    const { body, status } = await create(request, key);
    expect(status, JSON.stringify(body)).to.equal(201);
    const isReplayed = async (): Promise<void> => {
      const again = await create(request, key);
      expect([again.status, again.body, again.headers.get("Idempotency-Replayed")]).to.deep.equal([201, body, "true"]);
    };
    isRoom = false;
    await isReplayed();
    expect((await create({ ...request, subject: "Another" }, key)).body.code).to.equal("event-log-full");
    routes = ["default"];
    await isReplayed();
    expect((await create({ ...request, subject: "Another" }, key)).body.code).to.equal("validation-failed");
    expect((await create(request)).body.code).to.equal("validation-failed");
  });

  it("names every fault of its request at once", async () => {
    const { status, body } = await create({
      subject: "",
      recipients: ["ada@example.com"],
      scheduledAt: "2999-01-01T00:00:00Z",
      priorty: "high",
    });
    expect(status).to.equal(400);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
      "/body",
      "/priorty",
      "/recipients",
      "/scheduledAt",
      "/subject",
    ]);
  });

  it("takes a webhookUrl that may be called, and no other", async () => {
    expect((await create({ ...letter, webhookUrl: "https://example.com/hook" })).status).to.equal(201);
    const { status, body } = await create({ ...letter, webhookUrl: "http://10.0.0.1/" });
    expect([status, body.detail]).to.deep.equal([
      400,
      "webhookUrl cannot be called; expected a URL with https, or of a network that the setting WEBHOOK_ALLOW names.",
    ]);
  });

  it("shows its brakes, and takes none that cannot be", async () => {
    const window = { days: ["mon", "fri"], from: "08:00", to: "18:30", timeZone: "Europe/Berlin" };
    const brakes = { rate: 5000, rampUp: { firstHour: 100, growth: 1.5 }, window };
    const { mailingId } = (await create({ ...letter, ...brakes, stopWhen: { failureRate: 0.05 } })).body;
    expect((await api.ask("GET", `/api/mailings/${mailingId}`)).body).to.deep.include({
      ...brakes,
      stopWhen: { failureRate: 0.05, after: 100 },
      stoppedBy: null,
    });
    const { status, body } = await create({
      ...letter,
      rate: 0,
      rampUp: { firstHour: 100, growth: 1 },
      window: { ...window, days: [], to: "07:00", timeZone: "Mars/Olympus" },
      stopWhen: { failureRate: 1 },
    });
    expect(status).to.equal(400);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
      "/rampUp/growth",
      "/rate",
      "/stopWhen/failureRate",
      "/window/days",
      "/window/timeZone",
      "/window/to",
    ]);
  });

  it("keeps no address and no subject in the log", async () => {
    const { mailingId: jobId } = (await create(letter)).body;
    await put(jobId, '"ada@example.com"\n', ndjson);
    await api.ask("POST", `/api/mailings/${jobId}/start`);
    const events = await api.log.readMailing({ tenant: "default", jobId });
    expect(events.map(({ event }) => event.type)).to.deep.equal([
      "MailingCreated",
      "MailingPartsAdded",
      "MailingStarted",
    ]);
    expect(JSON.stringify(events)).not.to.match(/ada@|invoice|November/);
  });

  it("takes no file of another type, and none that is not what it says", async () => {
    const { mailingId } = (await create(letter)).body;
    expect((await put(mailingId, "{}", { "Content-Type": "application/json" })).status).to.equal(415);
    expect((await put(mailingId, "x", { ...ndjson, "Content-Encoding": "br" })).status).to.equal(415);
    const unpacked = await put(mailingId, '"ada@example.com"\n', { ...ndjson, "Content-Encoding": "gzip" });
    expect([unpacked.status, unpacked.body.code]).to.deep.equal([400, "validation-failed"]);
    const foreign = await put(mailingId, Buffer.from([0x22, 0xff, 0x22, 0x0a]), ndjson);
    expect([foreign.status, foreign.body.errors[0].message]).to.deep.equal([
      400,
      "line 1 is not UTF-8. 0 recipients of the lines before it were added; send the corrected file",
    ]);
    const broken = await put(mailingId, 'email,name\nada@example.com,"Ada\n', { "Content-Type": "text/csv" });
    expect([broken.status, broken.body.errors[0].pointer]).to.deep.equal([400, "/2"]);
    const long = await put(mailingId, `"${"x".repeat(70_000)}"\n"bob@example.com"\n`, ndjson);
    expect(long.body).to.deep.include({ lines: 2, added: 1, faulty: 1 });
  });

  it("names the first hundred faulty lines, and counts all", async () => {
    const { mailingId } = (await create(letter)).body;
    const lines = Array.from({ length: 250 }, (_, line) =>
      line % 2 === 0 ? '"nobody@"' : `"person${line}@example.com"`,
    );
    const { status, body } = await put(mailingId, lines.join("\n"), ndjson);
    expect([status, body.lines, body.added, body.faulty]).to.deep.equal([200, 250, 125, 125]);
    expect(body.faults.map(({ line }: { line: number }) => line)).to.deep.equal(
      Array.from({ length: 100 }, (_, index) => 2 * index + 1),
    );
  });

  it("takes one of two files that come at the same time, and refuses the other", async () => {
    const { mailingId } = (await create(letter)).body;
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let began = (): void => {};
    const begun = new Promise<void>((resolve) => {
      began = resolve;
    });
    async function* file(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('"ada@example.com"\n');
      began();
      await held;
      yield Buffer.from('"bob@example.com"\n');
    }
    const init = { method: "PUT", headers: ndjson, body: file(), duplex: "half" } as unknown as RequestInit;
    const first = fetch(`${api.url}/api/mailings/${mailingId}/recipients`, init);
    await begun;
    await eventually(async () => {
      const refused = await put(mailingId, '"carol@example.com"\n', ndjson);
      expect([refused.status, refused.body.code]).to.deep.equal([409, "mailing-import-conflict"]);
    });
    goOn();
    const done = await first;
    expect([done.status, ((await done.json()) as { added: number }).added]).to.deep.equal([200, 2]);
  });

  it("says that an address is missing in a row, and takes columns as variables", async () => {
    const { mailingId } = (await create({ ...letter, body: "Hello {{ name }}" })).body;
    const file = 'name,EMAIL,\nAda,ada@example.com,x\nBob\n"Two\nlines",two@example.com,\n,none@example.com,\n';
    const { status, body } = await put(mailingId, file, { "Content-Type": "text/csv" });
    expect([status, body.added, body.faults]).to.deep.equal([
      200,
      3,
      [{ line: 3, message: 'email is ""; expected an e-mail address such as ada@example.com' }],
    ]);
    const part = (await api.log.readMailing({ tenant: "default", jobId: mailingId })).at(-1)?.event;
    const jobId = part?.type === "MailingPartsAdded" ? (part.data.parts[0]?.jobId ?? "") : "";
    const content = JSON.parse(String(Buffer.from((await api.contentStore.get({ tenant: "default", jobId })) ?? [])));
    expect(content.recipients).to.deep.equal([
      { email: "ada@example.com", name: "Ada" },
      { email: "two@example.com", variables: { name: "Two\nlines" } },
      { email: "none@example.com", variables: { name: "" } },
    ]);
  });

  it("takes the names of recipients from lines of NDJSON", async () => {
    const { mailingId } = (await create({ ...letter, body: "Hello {{ name }}" })).body;
    const lines = [
      '"Ada Lovelace <ada@example.com>"',
      '{"email":"bob@example.com","name":"Bob"}',
      '"Eve\\r <eve@x.org>"',
    ];
    const { body } = await put(mailingId, lines.map((line) => `${line}\n`).join(""), ndjson);
    expect(body).to.include({ added: 2, faulty: 1 });
    const part = (await api.log.readMailing({ tenant: "default", jobId: mailingId })).at(-1)?.event;
    const jobId = part?.type === "MailingPartsAdded" ? (part.data.parts[0]?.jobId ?? "") : "";
    const content = JSON.parse(String(Buffer.from((await api.contentStore.get({ tenant: "default", jobId })) ?? [])));
    expect(content.recipients).to.deep.equal([
      { email: "ada@example.com", name: "Ada Lovelace" },
      { email: "bob@example.com", name: "Bob" },
    ]);
  });
});
