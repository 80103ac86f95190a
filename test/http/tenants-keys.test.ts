import { expect } from "chai";
import { type AccessSettings, createAccess } from "../../src/access/access.ts";
import { createJetStreamKeyRing, type RunningKeyRing } from "../../src/access/jetstream-key-ring.ts";
import { createJetStreamQuota } from "../../src/access/jetstream-quota.ts";
import { bucketSettings, openAccess, type TestAccess } from "../support/access.ts";
import { eventually } from "../support/eventually.ts";
import { bearer, type MadeKey, newKey, storedKey } from "../support/keys.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";

const settings: AccessSettings = {
  mode: "auto",
  host: "127.0.0.1",
  rateLimit: null,
  mailFrom: "Waybill <waybill@example.org>",
};

/** The promise is a second; a busy machine may ask later. */
const promptlyMs = 5000;

describe("The API with keys", () => {
  let nats: OwnNats;
  let access: TestAccess;
  let ring: RunningKeyRing;
  let api: RunningApi;

  beforeEach(async () => {
    nats = await startOwnNats();
    access = await openAccess(nats);
    ring = await createJetStreamKeyRing(access.connection, bucketSettings(nats), () => {});
    await start();
  });
  afterEach(async () => {
    await api.close();
    await ring.stop();
    await access.close();
    await nats.cleanUp();
  });

  const start = async (overrides: Partial<AccessSettings> = {}): Promise<void> => {
    api = await startApi({
      access: createAccess(ring, { ...settings, ...overrides }),
      quota: createJetStreamQuota(access.connection, bucketSettings(nats)),
      mailbox: { list: () => [], find: () => null },
    });
  };
  const restart = async (overrides: Partial<AccessSettings>): Promise<void> => {
    await api.close();
    await start(overrides);
  };
  const known = async (key: MadeKey): Promise<MadeKey> => {
    await eventually(() => expect(ring.find(key.record.id)).to.deep.equal(key.record));
    return key;
  };
  const made = async (overrides: Partial<MadeKey["record"]> = {}) => known(await storedKey(access.store, overrides));
  const post = (headers: Record<string, string>, body: unknown = mailing) =>
    api.ask("POST", "/api/jobs", { headers, body });

  it("asks for one within a second of the first being made", async () => {
    expect((await post({})).status).to.equal(201);
    const { text } = await storedKey(access.store);
    await eventually(async () => expect((await post({})).status).to.equal(401), promptlyMs);
    expect((await post(bearer(text))).status).to.equal(201);
  });

  it("knows each as soon as it is made, also the first", async () => {
    for (const tenant of ["acme", "shop", "acme"]) {
      const { text } = await storedKey(access.store, { tenant });
      const { status, body } = await api.ask("GET", "/api/me", { headers: bearer(text) });
      expect([status, body.tenant]).to.deep.equal([200, tenant]);
    }
  });

  it("shows the log, and the evidence that is made of it, to those alone that may read events", async () => {
    const [full, plain] = [await made(), await made({ scopes: ["jobs:read", "jobs:write"] })];
    const { jobId } = (await post(bearer(full.text))).body;
    for (const path of [`jobs/${jobId}/events`, `jobs/${jobId}/evidence`, `mailings/${jobId}/evidence`]) {
      const { status, body } = await api.ask("GET", `/api/${path}`, { headers: bearer(plain.text) });
      expect([status, body.code, body.scope], path).to.deep.equal([403, "scope-missing", "events:read"]);
    }
    expect((await api.ask("GET", `/api/jobs/${jobId}`, { headers: bearer(plain.text) })).status).not.to.equal(403);
  });

  it("refuses one within a second of its being revoked", async () => {
    const { text, record } = await made();
    expect((await post(bearer(text))).status).to.equal(201);
    await access.store.revokeKey(record.id, "2026-11-21T10:00:00.000Z");
    await eventually(async () => expect((await post(bearer(text))).status).to.equal(401), promptlyMs);
    expect((await post({})).status).to.equal(401);
  });

  it("answers every bad header alike, stores nothing, and logs none of it", async () => {
    const { text, record } = await made();
    const before = await api.log.state();
    const headers = [
      "Bearer",
      `Basic ${text}`,
      `Bearer ${newKey().text}`,
      `Bearer ${text}x`,
      `Bearer ${"x".repeat(9000)}`,
    ];
    const answers = await Promise.all(headers.map((header) => post({ Authorization: header })));
    for (const { status, headers: sent, body } of answers) {
      expect(status).to.equal(401);
      expect(sent.get("Content-Type")).to.equal("application/problem+json");
      expect(sent.get("WWW-Authenticate")).to.equal('Bearer realm="waybill", error="invalid_token"');
      expect({ ...body, requestId: "" }).to.deep.equal({ ...answers[0]?.body, requestId: "" });
      expect(body.code).to.equal("key-invalid");
    }
    expect(await api.log.state()).to.deep.equal(before);
    await post(bearer(text));
    const everything = JSON.stringify([api.logged, answers.map(({ body }) => body)]);
    expect(everything).to.include(`key:${record.id}`);
    for (const secret of [text.slice(-49), record.sha256 ?? "?"]) expect(everything).not.to.include(secret);
  });

  it("shows the mailbox, which is of all tenants, to operators alone", async () => {
    const [key, operators] = [await made(), await made({ scopes: ["admin"] })];
    for (const path of ["/mailbox", "/mailbox/1"]) {
      expect((await api.ask("GET", path)).status).to.equal(401);
      const refused = await api.ask("GET", path, { headers: bearer(key.text) });
      expect(refused).to.have.nested.include({ status: 403, "body.code": "scope-missing", "body.scope": "admin" });
      const shown = await api.ask("GET", path, { headers: bearer(operators.text) });
      expect(shown.status).to.equal(path === "/mailbox" ? 200 : 404);
    }
  });

  it("limits the requests of each key, and says how many are left", async () => {
    await restart({ rateLimit: 2 });
    const [one, other] = [await made(), await made()];
    const first = await post(bearer(one.text));
    expect(first.headers.get("RateLimit-Policy")).to.equal('"default";q=2;w=60');
    expect(first.headers.get("RateLimit")).to.equal('"default";r=1;t=30');
    await post(bearer(one.text));
    const refused = await post(bearer(one.text));
    expect(refused).to.have.nested.include({ status: 429, "body.code": "rate-limited" });
    expect(refused.headers.get("RateLimit")).to.match(/^"default";r=0;t=\d+$/);
    expect(Number(refused.headers.get("Retry-After"))).to.be.within(1, 30);
    expect((await post(bearer(other.text))).status).to.equal(201);
    expect((await api.ask("GET", "/livez")).status).to.equal(200);
  });

  it("holds a tenant to its recipients of the day, and says what is left until when", async () => {
    const { text } = await made({ tenant: "shop" });
    await access.store.setRules("shop", { dailyRecipients: 3 });
    await eventually(() => expect(ring.rulesOf("shop").dailyRecipients).to.equal(3));
    const two = { ...mailing, recipients: ["ada@example.com", "bob@example.com", "ADA@example.com"] };
    const keyed = { ...bearer(text), "Idempotency-Key": "order-1" };
    expect((await post(keyed, two)).status).to.equal(201);
    expect((await post(keyed, two)).headers.get("Idempotency-Replayed")).to.equal("true");
    const refused = await post(bearer(text), two);
    expect(refused).to.have.nested.include({
      status: 429,
      "body.code": "quota-exceeded",
      "body.limit": 3,
      "body.left": 1,
    });
    expect(refused.body.resetsAt).to.match(/T00:00:00\.000Z$/);
    const seconds = Number(refused.headers.get("Retry-After"));
    expect(seconds).to.be.within(1, 86_400);
    expect(refused.headers.get("RateLimit")).to.equal(`"recipients";r=1;t=${seconds}`);
    expect((await post(bearer(text))).status).to.equal(201);
    expect((await post(bearer(text))).status).to.equal(429);
    expect((await post(keyed, two)).status).to.equal(201);
  });

  it("lets a tenant send as whom it may, and names the others as faults", async () => {
    const { text } = await made({ tenant: "shop" });
    const from = async (sender: string) => (await post(bearer(text), { ...mailing, from: sender })).status;
    expect(await from("Ann <ann@shop.example>")).to.equal(400);
    expect(await from("waybill@example.org")).to.equal(201);
    await access.store.setRules("shop", { senders: ["shop.example"] });
    await eventually(async () => expect(await from("Ann <ann@shop.example>")).to.equal(201));
    const { status, body } = await post(bearer(text), { ...mailing, from: "ceo@bank.example", priority: "urgent" });
    expect(status).to.equal(400);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.include("/priority");
    const { body: alone } = await post(bearer(text), { ...mailing, from: "ceo@bank.example" });
    expect(alone.errors).to.deep.equal([
      {
        pointer: "/from",
        message:
          'from is "ceo@bank.example"; expected one of this tenant\'s senders: waybill@example.org, shop.example',
      },
    ]);
  });

  it("goes on with the keys that it knows while NATS is away, and does not guess about others", async () => {
    const { text } = await made();
    await nats.stop();
    await eventually(() => expect(ring.ageMs()).to.be.greaterThan(2000));
    const asked = (key: string) =>
      api.ask("GET", "/api/jobs/00000000-0000-4000-8000-000000000000", { headers: bearer(key) });
    expect((await asked(text)).status).to.equal(404);
    const other = await asked(newKey().text);
    expect(other).to.have.nested.include({ status: 503, "body.code": "keys-unavailable" });
    expect(Number(other.headers.get("Retry-After"))).to.be.greaterThan(0);
    await nats.start();
  });
});
