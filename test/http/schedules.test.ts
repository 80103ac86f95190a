import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { schedulesProjector } from "../../projections/schedules/projector.ts";
import { handleScheduleCommand } from "../../src/commands/handle-command.ts";
import { idOfFiring } from "../../src/intake/derived-job-id.ts";
import { timesOf } from "../../src/mailings/schedules/due-times.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { cause } from "../support/mailings.ts";

const now = "2026-03-02T10:00:00.000Z";
const letter = { subject: "Report", body: "Dear all", recipients: ["ada@example.com", "bob@example.com"] };
const weekly = { name: "Weekly", cron: "30 8 * * mon", timeZone: "Europe/Berlin", job: letter };

describe("Schedules", function () {
  this.timeout(60_000);

  let service: ApiWithReadSide;

  before(async () => {
    service = await startApiWithReadSide({ now: () => now });
    service.readSide.startProjector(schedulesProjector);
    service.readSide.startProjector(jobsProjector);
  });
  after(() => service.close());

  const ask = (method: string, path: string, body?: unknown, headers = {}) =>
    service.api.ask(method, `/api/schedules${path}`, { headers, ...(body === undefined ? {} : { body }) });
  const create = async (body: object = weekly): Promise<string> => (await ask("POST", "", body)).body.id;
  const faultsOf = async (body: unknown): Promise<readonly string[]> => {
    const answer = await ask("POST", "", body);
    expect([answer.status, answer.body.code]).to.deep.equal([400, "validation-failed"]);
    return answer.body.errors.map(({ pointer }: { pointer: string }) => pointer);
  };
  const refReading = (jobId: string) => ({ tenant: "default", jobId });
  /** Its time comes. */
  const fire = async (id: string, at: string): Promise<void> => {
    const ref = refReading(id);
    const previous = { isOpen: false, endedAt: null } as const;
    const idOf = (dueAt: string): string => idOfFiring(ref, dueAt);
    for (let left = 3; left > 0; left -= 1) {
      await handleScheduleCommand(
        service.readSide.log,
        ref,
        { type: "TendSchedule", at, timesOf, previous, idOf },
        cause,
      );
    }
  };

  it("are created, with the next five times", async () => {
    const { status, headers, body } = await ask("POST", "", weekly);
    expect(status).to.equal(201);
    expect(headers.get("Location")).to.equal(`/api/schedules/${body.id}`);
    expect(body).to.deep.equal({
      id: body.id,
      name: "Weekly",
      cron: "30 8 * * mon",
      timeZone: "Europe/Berlin",
      overlap: "skip",
      catchUp: "none",
      status: "active",
      makes: "job",
      nextTimes: [
        "2026-03-09T07:30:00.000Z",
        "2026-03-16T07:30:00.000Z",
        "2026-03-23T07:30:00.000Z",
        "2026-03-30T06:30:00.000Z",
        "2026-04-06T06:30:00.000Z",
      ],
      lastFiring: null,
      createdAt: now,
      updatedAt: now,
      job: letter,
    });
    expect((await ask("GET", `/${body.id}`)).body).to.deep.equal(body);
  });

  it("are listed, the newest first, without their templates", async () => {
    const [first, second] = [await create({ ...weekly, name: "One" }), await create({ ...weekly, name: "Two" })];
    const { body } = await ask("GET", "?limit=2");
    expect(body.data.map(({ id, name }: { id: string; name: string }) => [id, name])).to.deep.equal([
      [second, "Two"],
      [first, "One"],
    ]);
    expect(body.data[0]).not.to.have.property("job");
    const rest = await ask("GET", `?limit=100&cursor=${body.nextCursor}`);
    expect(rest.body.data.map(({ id }: { id: string }) => id)).not.to.include(first);
  });

  it("are created once for a key, and not for another body", async () => {
    const headers = { "Idempotency-Key": uuid() };
    const first = await ask("POST", "", weekly, headers);
    const again = await ask("POST", "", weekly, headers);
    expect([again.status, again.headers.get("Idempotency-Replayed")]).to.deep.equal([201, "true"]);
    expect(again.body).to.deep.equal(first.body);
    const other = await ask("POST", "", { ...weekly, name: "Daily" }, headers);
    expect([other.status, other.body.code]).to.deep.equal([422, "idempotency-key-reused"]);
  });

  it("say all that is wrong with a request", async () => {
    expect(await faultsOf({})).to.deep.equal(["/cron", "/job", "/name"]);
    expect(await faultsOf({ ...weekly, cron: "0 9 30 2 *", timeZone: "UTC" })).to.deep.equal(["/cron"]);
    expect(await faultsOf({ ...weekly, cron: "0 30 8 * * mon" })).to.deep.equal(["/cron"]);
    expect(await faultsOf({ ...weekly, timeZone: "Mars/Olympus" })).to.deep.equal(["/timeZone"]);
    expect(await faultsOf({ ...weekly, timeZone: "+02:00" })).to.deep.equal(["/timeZone"]);
    expect(await faultsOf({ ...weekly, mailing: {} })).to.include("/mailing");
    const late = { ...letter, scheduledAt: now, notAfter: now, dryRun: true };
    expect(await faultsOf({ ...weekly, job: late })).to.deep.equal([
      "/job/dryRun",
      "/job/notAfter",
      "/job/scheduledAt",
    ]);
    expect(await faultsOf({ ...weekly, job: { ...letter, subject: 5, recipients: ["nobody"] } })).to.deep.equal([
      "/job/recipients/0",
      "/job/subject",
    ]);
    expect(await faultsOf({ ...weekly, job: { template: "gone", recipients: ["ada@example.com"] } })).to.deep.equal([
      "/job/template",
    ]);
    const { job: _, ...frame } = weekly;
    const news = { subject: "News", body: "Dear all" };
    expect(await faultsOf({ ...frame, mailing: news })).to.deep.equal(["/mailing/recipientsOf"]);
    expect(await faultsOf({ ...frame, mailing: { ...news, recipientsOf: uuid() } })).to.deep.equal([
      "/mailing/recipientsOf",
    ]);
    const { body } = await ask("POST", "", { ...weekly, job: { ...letter, subject: 5 } });
    expect(body.errors[0].message).to.match(/^job\.subject is 5; expected /);
  });

  it("take no template that is larger than a content may be, with its attachments", async () => {
    const attached = (bytes: number) => ({
      ...weekly,
      job: {
        ...letter,
        attachments: [
          {
            filename: "a.bin",
            contentType: "application/octet-stream",
            content: Buffer.alloc(bytes, 1).toString("base64"),
          },
        ],
      },
    });
    const { status, body } = await ask("POST", "", attached(1_000_000));
    expect([status, body.code]).to.deep.equal([413, "content-too-large"]);
    expect((await ask("POST", "", attached(100_000))).status).to.equal(201);
  });

  it("may make a mailing with the recipients of another one", async () => {
    const { body: source } = await service.api.ask("POST", "/api/mailings", { body: { subject: "S", body: "B" } });
    const mailing = { subject: "News", body: "Dear all", recipientsOf: source.mailingId, rate: 1000 };
    const { job: _, ...frame } = weekly;
    const { status, body } = await ask("POST", "", { ...frame, mailing });
    expect([status, body.makes]).to.deep.equal([201, "mailing"]);
    expect((await ask("GET", `/${body.id}`)).body.mailing).to.deep.equal(mailing);
  });

  it("are paused and resumed, and a repetition changes nothing", async () => {
    const id = await create();
    const early = await ask("POST", `/${id}/resume`);
    expect([early.status, early.body.code]).to.deep.equal([409, "schedule-not-paused"]);
    for (const _ of [1, 2]) {
      const { status, body } = await ask("POST", `/${id}/pause`, { reason: "holidays" });
      expect([status, body.status, body.nextTimes]).to.deep.equal([200, "paused", []]);
    }
    const resumed = await ask("POST", `/${id}/resume`);
    expect([resumed.body.status, resumed.body.nextTimes.length]).to.deep.equal(["active", 5]);
  });

  it("are replaced as a whole, and the content before is gone", async () => {
    const id = await create();
    const before = (await service.readSide.log.readSchedule(refReading(id)))?.event.data.schedule.contentId ?? "";
    const daily = {
      name: "Daily",
      cron: "0 9 * * *",
      overlap: "queue",
      catchUp: "one",
      job: { ...letter, subject: "New" },
    };
    const { status, body } = await ask("PUT", `/${id}`, daily);
    expect(status).to.equal(200);
    expect(body).to.deep.include({ ...daily, timeZone: "UTC", createdAt: now });
    expect(await service.readSide.contentStore.get(refReading(before))).to.equal(null);
    expect((await ask("PUT", `/${id}`, { ...daily, cron: "never" })).status).to.equal(400);
  });

  it("are deleted with their templates; they and their firings can be read on", async () => {
    const id = await create();
    const stored = (await service.readSide.log.readSchedule(refReading(id)))?.event.data.schedule.contentId ?? "";
    for (const _ of [1, 2]) expect((await ask("DELETE", `/${id}`)).body.status).to.equal("deleted");
    expect(await service.readSide.contentStore.get(refReading(stored))).to.equal(null);
    const { body } = await ask("GET", `/${id}`);
    expect(body).to.include({ name: null, status: "deleted" });
    expect(body).not.to.have.property("job");
    const listed = (await ask("GET", "?limit=100")).body.data.map((one: { id: string }) => one.id);
    expect(listed).not.to.include(id);
    expect((await ask("GET", `/${id}/firings`)).body.data).to.deep.equal([]);
    for (const [method, path, asked] of [
      ["PUT", "", weekly],
      ["POST", "/pause", {}],
      ["POST", "/resume", {}],
    ] as const) {
      const { status, body: problem } = await ask(method, `/${id}${path}`, asked);
      expect([status, problem.code]).to.deep.equal([409, "schedule-deleted"]);
    }
  });

  it("show what became of their times", async () => {
    const id = await create({ ...weekly, cron: "0 * * * *", timeZone: "UTC" });
    await fire(id, "2026-03-02T11:00:00.000Z");
    await fire(id, "2026-03-02T14:30:00.000Z");
    const dueAt = "2026-03-02T11:00:00.000Z";
    const jobId = idOfFiring(refReading(id), dueAt);
    const made = { reason: null, jobId, mailingId: null, firstDueAt: dueAt, count: 1 };
    const { body } = await ask("GET", `/${id}/firings`);
    expect(body.data).to.deep.equal([
      {
        dueAt: "2026-03-02T14:00:00.000Z",
        at: "2026-03-02T14:30:00.000Z",
        outcome: "skipped",
        reason: "The service was away.",
        jobId: null,
        mailingId: null,
        firstDueAt: "2026-03-02T12:00:00.000Z",
        count: 3,
      },
      { dueAt, at: dueAt, outcome: "fired", ...made },
    ]);
    const { lastFiring } = (await ask("GET", `/${id}`)).body;
    expect(lastFiring).to.deep.equal({ dueAt, firedAt: dueAt, jobId });
    const command = { type: "FailFiring", at: dueAt, dueAt, code: "quota-exceeded", places: [] } as const;
    await handleScheduleCommand(service.readSide.log, refReading(id), command, cause);
    const failed = (await ask("GET", `/${id}/firings`)).body.data[1];
    expect(failed).to.include({
      outcome: "failed",
      reason: "Too many recipients today (quota-exceeded).",
      jobId: null,
    });
    expect((await ask("GET", `/${id}/firings?limit=1`)).body.nextCursor).to.be.a("string");
  });

  it("lose a person who is erased, and pause when nobody is left", async () => {
    const id = await create({ ...weekly, job: { ...letter, recipients: ["eve@example.com", "bob@example.com"] } });
    const stored = (await service.readSide.log.readSchedule(refReading(id)))?.event.data.schedule.contentId ?? "";
    const erase = (email: string) =>
      service.api.ask("POST", "/api/recipients/erase", { body: { email, reason: "asked" } });
    const { status, body } = await erase("EVE@example.com");
    expect([status, body.schedulesChanged]).to.deep.equal([200, 1]);
    const left = (await ask("GET", `/${id}`)).body;
    expect([left.status, left.job.recipients]).to.deep.equal(["active", ["bob@example.com"]]);
    expect(await service.readSide.contentStore.get(refReading(stored))).to.equal(null);
    expect((await erase("eve@example.com")).body.schedulesChanged).to.equal(0);
    await erase("bob@example.com");
    const empty = (await ask("GET", `/${id}`)).body;
    expect([empty.status, empty.job.recipients]).to.deep.equal(["paused", []]);
  });

  it("are not found by an unknown id", async () => {
    for (const id of ["nothing", uuid()]) {
      for (const [method, path, asked] of [
        ["GET", "", undefined],
        ["GET", "/firings", undefined],
        ["PUT", "", weekly],
        ["POST", "/pause", {}],
        ["DELETE", "", undefined],
      ] as const) {
        const { status, body } = await ask(method, `/${id}${path}`, asked);
        expect([status, body.code]).to.deep.equal([404, "schedule-not-found"]);
      }
    }
  });

  it("are ten thousand at most over all tenants", async () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => ({
      schedule_id: `other-${index}`,
      tenant: "other",
      is_listed: 1,
      sequence: 0,
      name: "Other",
      state: "{}",
    }));
    const { db } = service.readSide;
    for (let first = 0; first < rows.length; first += 1000)
      await db("schedules").insert(rows.slice(first, first + 1000));
    const { status, body } = await ask("POST", "", weekly);
    expect([status, body.code]).to.deep.equal([409, "too-many-schedules"]);
    expect(body.detail).to.include("of all tenants; expected at most 10000");
    await db("schedules").where({ tenant: "other" }).delete();
    expect((await ask("POST", "", weekly)).status).to.equal(201);
  });

  it("are a hundred at most", async () => {
    const { data } = (await ask("GET", "?limit=100")).body;
    for (let there = data.length; there < 100; there += 1) await create({ ...weekly, name: `Number ${there}` });
    const { status, body } = await ask("POST", "", weekly);
    expect([status, body.code]).to.deep.equal([409, "too-many-schedules"]);
  });
});
