import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { createAccess } from "../../src/access/access.ts";
import { defaultScopes } from "../../src/access/key-ring.ts";
import { noRules } from "../../src/domain/tenant.ts";
import type { ApiDependencies } from "../../src/http/api.ts";
import { bearer, type MadeKey, newKey, ringOf } from "../support/keys.ts";
import { type Answered, noMailings, type RunningApi, startApi } from "../support/running-api.ts";

const letter = { subject: "Your invoice", body: "Hello {{ name }}", name: "November" };
const settings = { mode: "auto", host: "127.0.0.1", rateLimit: null, mailFrom: "a@example.org" } as const;
const ndjson = { "Content-Type": "application/x-ndjson" };

/** Without a read model: everything is answered from the log. */
describe("What people decide about a mailing over HTTP", () => {
  const asker = newKey();
  const boss = newKey({ scopes: ["jobs:read", "jobs:approve"] });
  const both = newKey({ scopes: [...defaultScopes, "jobs:approve"] });
  let api: RunningApi;
  let now: string;

  const open = async (given: Partial<ApiDependencies> = {}, rules = noRules): Promise<void> => {
    const ring = ringOf([asker.record, boss.record, both.record], { rules: { acme: rules } });
    api = await startApi({ access: createAccess(ring, settings), now: () => now, ...given });
  };
  beforeEach(async () => {
    now = "2026-11-21T09:30:00.000Z";
    await open();
  });
  afterEach(() => api.close());

  const as = (key: MadeKey | null, headers = {}) => ({ ...(key === null ? {} : bearer(key.text)), ...headers });
  const post = (path: string, key: MadeKey | null, body: unknown = {}, headers = {}): Promise<Answered> =>
    api.ask("POST", `/api/mailings${path}`, { body, headers: as(key, headers) });
  const find = async (id: string, key: MadeKey | null = asker) =>
    (await api.ask("GET", `/api/mailings/${id}`, { headers: as(key) })).body;
  const add = async (id: string, people: readonly string[], key: MadeKey | null = asker): Promise<Answered> => {
    const body = people.map((name) => `${JSON.stringify({ email: `${name}@example.com`, variables: { name } })}\n`);
    const headers = as(key, ndjson);
    return await api.ask("PUT", `/api/mailings/${id}/recipients`, { body: body.join(""), headers });
  };
  const draft = async (request: object, key: MadeKey | null = asker): Promise<string> => {
    const { status, body } = await post("", key, { ...letter, ...request });
    expect(status, JSON.stringify(body)).to.equal(201);
    await add(body.mailingId, ["ada", "bob"], key);
    return body.mailingId;
  };
  const code = ({ status, body }: Answered) => [status, body.code];
  const typesOf = async (jobId: string, tenant = "acme") =>
    (await api.log.readMailing({ tenant, jobId })).map(({ event }) => event.type);

  describe("a mailing that would be one too many", () => {
    let counts = { ofTenant: 0, ofAll: 0 };
    beforeEach(async () => {
      await api.close();
      await open({ mailings: { ...noMailings, countOpen: async () => counts } });
    });

    it("is not started where the tenant has 5000 open, and stays a draft", async () => {
      counts = { ofTenant: 5000, ofAll: 5000 };
      const id = await draft({});
      const refused = await post(`/${id}/start`, asker);
      expect(code(refused)).to.deep.equal([409, "too-many-open-mailings"]);
      expect(refused.body.detail).to.include("5000 mailings are open; expected at most 5000");
      expect(await typesOf(id)).to.not.include("MailingStarted");
    });
    it("is not started where all tenants together have 25000 open", async () => {
      counts = { ofTenant: 1, ofAll: 25_000 };
      const refused = await post(`/${await draft({})}/start`, asker);
      expect(code(refused)).to.deep.equal([409, "too-many-open-mailings"]);
      expect(refused.body.detail).to.include("25000 mailings of all tenants");
    });
    it("hinders none that is open already", async () => {
      counts = { ofTenant: 4999, ofAll: 24_999 };
      const id = await draft({});
      expect((await post(`/${id}/start`, asker)).status).to.equal(200);
      counts = { ofTenant: 5000, ofAll: 25_000 };
      for (const action of ["start", "pause", "resume", "cancel"]) {
        expect((await post(`/${id}/${action}`, asker)).status, action).to.equal(200);
      }
    });
  });

  describe("an undo", () => {
    it("takes a start back as long as there is time, and says until when", async () => {
      const id = await draft({ undoFor: 600 });
      const started = await post(`/${id}/start`, asker);
      expect(started.body).to.include({ status: "scheduled", undoUntil: "2026-11-21T09:40:00.000Z" });
      now = "2026-11-21T09:39:59.999Z";
      const undone = await post(`/${id}/undo`, asker, { reason: "the price is wrong" });
      expect(undone.status).to.equal(200);
      expect(undone.body).to.include({ status: "draft", undoUntil: null, startedAt: null });
      expect((await post(`/${id}/undo`, asker)).status).to.equal(200);
      expect((await add(id, ["eve"])).body).to.include({ added: 1 });
      expect((await post(`/${id}/start`, asker)).body).to.include({
        status: "scheduled",
        undoUntil: "2026-11-21T09:49:59.999Z",
      });
      now = "2026-11-21T09:49:59.999Z";
      const late = await post(`/${id}/undo`, asker);
      expect(code(late)).to.deep.equal([409, "undo-time-over"]);
      expect(late.body.detail).to.include("2026-11-21T09:49:59.999Z");
    });

    it("needs a mailing that asked for it, with whole seconds of a day at most", async () => {
      const id = await draft({});
      expect((await post(`/${id}/start`, asker)).body).to.include({ status: "processing", undoUntil: null });
      expect(code(await post(`/${id}/undo`, asker))).to.deep.equal([409, "undo-time-over"]);
      for (const undoFor of [-1, 0.5, 86_401, "60"]) {
        const { status, body } = await post("", asker, { ...letter, undoFor });
        expect([status, body.errors[0].pointer]).to.deep.equal([400, "/undoFor"]);
      }
    });

    it("does not give back what was counted, and counts what was added", async () => {
      await api.close();
      const counted: [string, number][] = [];
      const quota: ApiDependencies["quota"] = {
        take: async ({ job, recipients }) => {
          if (!counted.some(([known]) => known === job.jobId)) counted.push([job.jobId, recipients]);
          return { granted: true };
        },
      };
      await open({ quota }, { ...noRules, dailyRecipients: 100 });
      const id = await draft({ undoFor: 600 });
      await post(`/${id}/start`, asker);
      await post(`/${id}/undo`, asker);
      await add(id, ["eve"]);
      await post(`/${id}/start`, asker);
      await post(`/${id}/start`, asker);
      expect(counted.map(([, recipients]) => recipients)).to.deep.equal([2, 3]);
    });
  });

  describe("a start", () => {
    it("takes the daily recipients of those, too, that an import adds at this moment", async () => {
      await api.close();
      const counted: number[] = [];
      let meanwhile: () => Promise<unknown> = async () => {};
      const quota: ApiDependencies["quota"] = {
        take: async ({ recipients, perDay }) => {
          counted.push(recipients);
          await meanwhile();
          const used = counted.reduce((sum, one) => sum + one, 0);
          return used <= perDay ? { granted: true } : { granted: false, left: 0, resetsAt: now };
        },
      };
      await open({ quota }, { ...noRules, dailyRecipients: 4 });
      const allowed = await draft({});
      meanwhile = async () => {
        meanwhile = async () => {};
        await add(allowed, ["eve"]);
      };
      expect((await post(`/${allowed}/start`, asker)).body).to.deep.include({ status: "processing" });
      expect(counted).to.deep.equal([2, 1]);
      counted.length = 0;
      const refused = await draft({});
      meanwhile = async () => {
        meanwhile = async () => {};
        await add(refused, ["eve", "fay", "gus"]);
      };
      expect(code(await post(`/${refused}/start`, asker))).to.deep.equal([429, "quota-exceeded"]);
      expect(counted).to.deep.equal([2, 3]);
      expect(await find(refused)).to.include({ status: "draft" });
    });
  });

  describe("a file of recipients", () => {
    it("is not read any further once its key is revoked", async () => {
      await api.close();
      const keys = [asker.record];
      api = await startApi({ access: createAccess(ringOf(keys), settings), now: () => now });
      const { body } = await post("", asker, letter);
      let isRevoked: () => void = () => {};
      const revoked = new Promise<void>((resolve) => {
        isRevoked = resolve;
      });
      const lines = async function* () {
        yield Buffer.from('"ada@example.com"\n');
        await revoked;
        yield Buffer.from('"bob@example.com"\n');
      };
      const sent = fetch(`${api.url}/api/mailings/${body.mailingId}/recipients`, {
        method: "PUT",
        headers: as(asker, ndjson),
        body: ReadableStream.from(lines()),
        duplex: "half",
      } as RequestInit);
      await pause(100);
      keys[0] = { ...asker.record, sha256: null, revokedAt: now };
      isRevoked();
      const answer = await sent;
      expect([answer.status, ((await answer.json()) as { code: string }).code]).to.deep.equal([401, "key-invalid"]);
      expect(await typesOf(body.mailingId)).to.deep.equal(["MailingCreated"]);
    });
  });

  describe("an approval", () => {
    it("is asked for with one key and given with another", async () => {
      const id = await draft({ approval: "required" });
      const asked = await post(`/${id}/start`, asker);
      expect(asked.body).to.include({ status: "awaiting-approval", startedAt: null });
      const { digest } = asked.body.approval;
      expect(asked.body.approval).to.deep.equal({
        status: "requested",
        digest,
        scheduledAt: null,
        requestedBy: `key:${asker.record.id}`,
        requestedAt: now,
        decidedBy: null,
        decidedAt: null,
        reason: null,
      });
      expect(code(await add(id, ["eve"]))).to.deep.equal([409, "mailing-awaits-approval"]);
      expect(code(await post(`/${id}/approve`, asker, { digest }))).to.deep.equal([403, "scope-missing"]);
      const wrong = await post(`/${id}/approve`, boss, { digest: "0".repeat(64) });
      expect(code(wrong)).to.deep.equal([409, "approval-digest-differs"]);
      expect((await post(`/${id}/approve`, boss)).status).to.equal(400);
      const approved = await post(`/${id}/approve`, boss, { digest });
      expect(approved.body).to.include({ status: "processing" });
      expect(approved.body.approval).to.include({ status: "approved", digest, decidedBy: `key:${boss.record.id}` });
      expect((await post(`/${id}/approve`, boss, { digest })).status).to.equal(200);
      expect(await find(id)).to.deep.equal(approved.body);
      const events = await api.log.readMailing({ tenant: "acme", jobId: id });
      expect(events.slice(-3).map(({ event, actor }) => [event.type, actor])).to.deep.equal([
        ["MailingApprovalRequested", `key:${asker.record.id}`],
        ["MailingApproved", `key:${boss.record.id}`],
        ["MailingStarted", `key:${boss.record.id}`],
      ]);
      // The decision and what follows from it are stored together, or not at all.
      expect(events.at(-1)?.sequence).to.equal(events.at(-2)?.sequence);
    });

    it("is not given with the key that has asked, whatever it may do", async () => {
      const id = await draft({ approval: "required" }, both);
      const { digest } = (await post(`/${id}/start`, both)).body.approval;
      for (const [action, body] of [
        ["approve", { digest }],
        ["reject", { reason: "no" }],
      ] as const) {
        const refused = await post(`/${id}/${action}`, both, body);
        expect(code(refused)).to.deep.equal([403, "approval-needs-another-key"]);
      }
      expect((await post(`/${id}/approve`, boss, { digest })).status).to.equal(200);
    });

    it("that is refused says why, and is asked for again", async () => {
      const id = await draft({ approval: "required" });
      const before = (await post(`/${id}/start`, asker)).body.approval.digest;
      expect((await post(`/${id}/reject`, boss)).status).to.equal(400);
      const rejected = await post(`/${id}/reject`, boss, { reason: "the price is wrong" });
      expect(rejected.body).to.include({ status: "draft" });
      expect(rejected.body.approval).to.include({ status: "rejected", reason: "the price is wrong" });
      await add(id, ["eve"]);
      const { status, approval } = (await post(`/${id}/start`, asker)).body;
      expect(status).to.equal("awaiting-approval");
      expect(approval.digest).not.to.equal(before);
      const stale = await post(`/${id}/approve`, boss, { digest: before });
      expect(code(stale)).to.deep.equal([409, "approval-digest-differs"]);
    });

    it("is needed above a number of recipients, of the service or of the tenant, whichever is lower", async () => {
      for (const [ofService, ofTenant, expected] of [
        [2, null, "processing"],
        [1, null, "awaiting-approval"],
        [null, 1, "awaiting-approval"],
        [100, 0, "awaiting-approval"],
        [1, 100, "awaiting-approval"],
        [null, null, "processing"],
      ] as const) {
        await api.close();
        await open({ approvalAbove: ofService }, { ...noRules, approvalAbove: ofTenant });
        const id = await draft({});
        expect((await post(`/${id}/start`, asker)).body.status, `${ofService} ${ofTenant}`).to.equal(expected);
      }
    });

    it("is not needed for a job, however many recipients the limit allows", async () => {
      await api.close();
      await open({ approvalAbove: 1 });
      const body = { ...letter, body: "Hello", recipients: ["ada@example.com", "bob@example.com"] };
      const job = await api.ask("POST", "/api/jobs", { body, headers: as(asker) });
      expect([job.status, job.body.status]).to.deep.equal([201, "pending"]);
    });

    it("cannot be where no keys tell people apart", async () => {
      await api.close();
      api = await startApi({ approvalAbove: 1 });
      const refused = await post("", null, { ...letter, approval: "required" });
      expect(code(refused)).to.deep.equal([409, "approval-needs-keys"]);
      const id = await draft({}, null);
      expect(code(await post(`/${id}/start`, null))).to.deep.equal([409, "approval-needs-keys"]);
      expect(await find(id, null)).to.include({ status: "draft" });
    });

    it("takes the daily recipients of the tenant when it is given, and not when it is asked for", async () => {
      await api.close();
      const counted: number[] = [];
      const quota: ApiDependencies["quota"] = {
        take: async ({ recipients }) => {
          counted.push(recipients);
          return { granted: true };
        },
      };
      await open({ quota }, { ...noRules, dailyRecipients: 100 });
      const id = await draft({ approval: "required" });
      const { digest } = (await post(`/${id}/start`, asker)).body.approval;
      expect(counted).to.deep.equal([]);
      await post(`/${id}/approve`, boss, { digest });
      expect(counted).to.deep.equal([2]);
    });
  });

  describe("a test", () => {
    const to = ["me@example.com", "you@example.com", "ME@example.com"];

    it("is a job with the letter as it is, once for a key, which the mailing names and does not count", async () => {
      const id = await draft({});
      const key = { "Idempotency-Key": "look-1" };
      const first = await post(`/${id}/test`, asker, { to, variables: { name: "Me" } }, key);
      expect(first.status, JSON.stringify(first.body)).to.equal(201);
      const { jobId } = first.body;
      expect(first.body).to.deep.equal({ mailingId: id, jobId, recipients: 2, createdAt: now });
      expect(first.headers.get("Location")).to.equal(`/api/jobs/${jobId}`);
      const again = await post(`/${id}/test`, asker, { to, variables: { name: "Me" } }, key);
      expect([again.body, again.headers.get("Idempotency-Replayed")]).to.deep.equal([first.body, "true"]);
      const other = await post(`/${id}/test`, asker, { to: ["me@example.com"] }, key);
      expect(other.status).not.to.equal(201);
      const job = (await api.ask("GET", `/api/jobs/${jobId}`, { headers: as(asker) })).body;
      expect(job).to.deep.include({ subject: letter.subject, mailing: null });
      expect(job.progress).to.include({ total: 2, pending: 2 });
      const stored = Buffer.from((await api.contentStore.get({ tenant: "acme", jobId })) ?? []);
      expect(JSON.parse(String(stored)).recipients).to.deep.equal([
        { email: "me@example.com", variables: { name: "Me" } },
        { email: "you@example.com", variables: { name: "Me" } },
      ]);
      const mailing = await find(id);
      expect(mailing).to.deep.include({ status: "draft", tests: [{ jobId, recipients: 2, testedAt: now }] });
      expect(mailing.progress).to.include({ total: 2, pending: 2 });
      const events = await api.log.readMailing({ tenant: "acme", jobId: id });
      expect(events.filter(({ event }) => event.type === "MailingTested")).to.have.lengthOf(1);
      expect(JSON.stringify(events)).not.to.match(/me@example|you@example/i);
    });

    it("is told again for its key, once the letter was erased and while the log has no room", async () => {
      await api.close();
      let isFull = false;
      await open({ room: { isLeftForJobs: async () => !isFull } });
      const id = await draft({});
      const key = { "Idempotency-Key": "look-1" };
      const first = await post(`/${id}/test`, asker, { to, variables: { name: "Me" } }, key);
      expect(first.status).to.equal(201);
      await api.contentStore.erase({ tenant: "acme", jobId: id });
      isFull = true;
      const again = await post(`/${id}/test`, asker, { to, variables: { name: "Me" } }, key);
      expect([again.status, again.body, again.headers.get("Idempotency-Replayed")]).to.deep.equal([
        201,
        first.body,
        "true",
      ]);
      const other = await post(`/${id}/test`, asker, { to: ["me@example.com"] }, key);
      expect(code(other)).to.deep.equal([422, "idempotency-key-reused"]);
    });

    it("is possible while an approval is awaited, and leaves what is to be approved as it is", async () => {
      const id = await draft({ approval: "required" });
      const { digest } = (await post(`/${id}/start`, asker)).body.approval;
      expect((await post(`/${id}/test`, asker, { to, variables: { name: "Me" } })).status).to.equal(201);
      expect((await post(`/${id}/approve`, boss, { digest })).status).to.equal(200);
      const late = await post(`/${id}/test`, asker, { to, variables: { name: "Me" } });
      expect(code(late)).to.deep.equal([409, "mailing-has-started"]);
    });

    it("names what is wrong, and then nothing is recorded", async () => {
      const id = await draft({});
      for (const [body, pointer] of [
        [{}, "/to"],
        [{ to: [] }, "/to"],
        [{ to: ["a", "b", "c", "d", "e", "f"].map((name) => `${name}@example.com`) }, "/to"],
        [{ to: ["nobody@"] }, "/to/0"],
        [{ to: ["me@example.com"] }, "/variables"],
        [{ to: ["me@example.com"], variables: "x" }, "/variables"],
      ] as const) {
        const refused = await post(`/${id}/test`, asker, body);
        expect([refused.status, refused.body.errors?.[0].pointer], JSON.stringify(refused.body)).to.deep.equal([
          400,
          pointer,
        ]);
      }
      expect(await typesOf(id)).to.deep.equal(["MailingCreated", "MailingPartsAdded"]);
    });
  });

  describe("a retry", () => {
    it("is for a mailing that has ended, and of which a part has failed", async () => {
      const id = await draft({});
      expect(code(await post(`/${id}/retry`, asker))).to.deep.equal([409, "mailing-has-not-ended"]);
      await post(`/${id}/cancel`, asker);
      expect(code(await post(`/${id}/retry`, asker))).to.deep.equal([409, "mailing-has-not-failed"]);
      expect((await post(`/${id}/retry`, asker, { scope: "everybody" })).status).to.equal(400);
    });
  });
});
