import { expect } from "chai";
import { job, later, now } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { each, ended, pending, processing, retrying, scheduled } from "../support/histories.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const { jobId } = job;

describe("A job that shall start at another time, or in another lane", () => {
  let api: RunningApi;

  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const patch = (body?: unknown) => api.ask("PATCH", `/api/jobs/${jobId}`, { body });
  const lastDecision = async () => (await api.log.readDecisions(job)).at(-1);

  it("is answered whole, with the new time", async () => {
    await happen(api.log, job, pending());
    const answered = await patch({ scheduledAt: "2026-11-21T13:00:00+01:00", reason: "at noon" });
    expect(answered.status).to.equal(200);
    expect(answered.body).to.include({ id: jobId, status: "scheduled", scheduledAt: "2026-11-21T12:00:00.000Z" });
    const decision = await lastDecision();
    expect(decision?.event).to.deep.equal({
      type: "JobRescheduled",
      at: now,
      data: {
        run: 1,
        attempt: 1,
        opening: 1,
        type: "email.send",
        priority: "normal",
        groupSha256: null,
        scheduledAt: "2026-11-21T12:00:00.000Z",
        isPaused: false,
        reason: "at noon",
      },
    });
    expect(answered.headers.get("Event-Sequence")).to.equal(String(decision?.sequence));
  });

  it("goes at once where the time is null", async () => {
    await happen(api.log, job, scheduled());
    const { status, body } = await patch({ scheduledAt: null });
    expect([status, body.status, body.scheduledAt]).to.deep.equal([200, "queued", null]);
  });

  it("moves to another lane, also in upper case", async () => {
    await happen(api.log, job, pending());
    const { body } = await patch({ priority: "HIGH" });
    expect(body).to.include({ status: "queued", priority: "high", scheduledAt: null });
  });

  it("stays as it is when it is asked for twice", async () => {
    await happen(api.log, job, pending());
    const once = await patch({ scheduledAt: later });
    const twice = await patch({ scheduledAt: later });
    expect([twice.status, twice.body]).to.deep.equal([200, once.body]);
    expect(await api.log.readDecisions(job)).to.have.lengthOf(2);
  });

  for (const [status, history] of each({ processing, retrying, ...ended })) {
    it(`cannot be changed any more when it is ${status}`, async () => {
      await happen(api.log, job, history());
      const answered = await patch({ priority: "low" });
      const code = status in ended ? "job-has-ended" : "job-has-started";
      expect([answered.status, answered.body.code, answered.body.currentStatus]).to.deep.equal([409, code, status]);
    });
  }

  it("cannot be put past the time that it is not to start after", async () => {
    await happen(api.log, job, pending({ notAfter: later }));
    const { status, body } = await patch({ scheduledAt: "2026-11-21T12:00:00Z" });
    expect([status, body.code]).to.deep.equal([400, "scheduled-too-late"]);
    expect(body.detail).to.include("2026-11-21T12:00:00.000Z").and.to.include(later);
  });

  it("is told what is wrong with what was asked for, and left as it is", async () => {
    await happen(api.log, job, pending());
    for (const [body, pointer] of [
      [{}, ""],
      [{ reason: "just so" }, ""],
      [{ scheduledAt: "tomorrow" }, "/scheduledAt"],
      [{ priority: "urgent" }, "/priority"],
      [{ priority: "low", notAfter: later }, "/notAfter"],
      [[], ""],
    ] as const) {
      const answered = await patch(body);
      expect([answered.status, answered.body.errors?.[0]?.pointer], JSON.stringify(body)).to.deep.equal([400, pointer]);
    }
    expect((await patch()).status).to.equal(400);
    expect(await api.log.readDecisions(job)).to.have.lengthOf(1);
  });

  it("is absent where it was never created", async () => {
    expect((await patch({ priority: "low" })).status).to.equal(404);
  });
});

describe("A job that names its group", () => {
  let api: RunningApi;
  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const mailing = { subject: "Your invoice", body: "Hello", recipients: ["ada@example.com"] };
  const create = async (groupKey: unknown) => api.ask("POST", "/api/jobs", { body: { ...mailing, groupKey } });
  const groupOf = async (groupKey: string): Promise<unknown> => {
    const { body } = await create(groupKey);
    const [created] = await api.log.readDecisions({ tenant: "default", jobId: body.jobId });
    expect(JSON.stringify(created)).not.to.include(groupKey);
    return created?.event.type === "JobCreated" ? created.event.data.groupSha256 : undefined;
  };

  it("is stored as a digest in the log, which contains no address", async () => {
    const group = await groupOf("customer of ada@example.com");
    expect(group).to.match(/^[0-9a-f]{64}$/);
    expect(await groupOf("customer of ada@example.com")).to.equal(group);
    expect(await groupOf("customer of bob@example.com")).not.to.equal(group);
  });

  it("is refused where the key is none", async () => {
    for (const key of ["", "a\nb", 7, "x".repeat(201)]) expect((await create(key)).status).to.equal(400);
  });
});
