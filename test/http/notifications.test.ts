import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { notificationsProjector } from "../../projections/notifications/projector.ts";
import { createAccess } from "../../src/access/access.ts";
import type { MailingEvent } from "../../src/domain/mailing/events.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { caused, jobCompleted, jobCreated, jobStarted, now } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { bearer, newKey, ringOf } from "../support/keys.ts";
import * as story from "../support/mailing-story.ts";
import { startApi } from "../support/running-api.ts";

type Listed = Readonly<Record<"jobId" | "mailingId" | "type" | "progress" | "links", unknown>>;

describe("The notifications of a key", () => {
  const [mine, colleague, stranger] = [newKey(), newKey(), newKey({ tenant: "other" })];
  const reader = newKey({ scopes: ["jobs:read"] });
  let service: ApiWithReadSide;
  let jobs: readonly JobRef[];

  before(async () => {
    const ring = ringOf([mine, colleague, stranger, reader].map(({ record }) => record));
    const settings = { mode: "auto", host: "127.0.0.1", rateLimit: null, mailFrom: "waybill@example.org" } as const;
    service = await startApiWithReadSide({ access: createAccess(ring, settings) });
    const { readSide } = service;
    jobs = Array.from({ length: 4 }, () => newJob("acme"));
    for (const job of jobs) {
      const created = { ...caused(uuid(), jobCreated()), actor: `key:${mine.record.id}` };
      await readSide.log.append(job, [created], 0);
      await readSide.happens(job, jobStarted(), jobCompleted());
    }
    readSide.startProjector(notificationsProjector);
    await readSide.caughtUp("notifications");
  });
  after(() => service.close());

  const ask = (method: string, path: string, { text } = mine, headers = {}) =>
    service.api.ask(method, `/api/notifications${path}`, { headers: { ...bearer(text), ...headers } });
  const idOf = (index: number): string => `${jobs[index]?.jobId}.1`;
  const ids = (data: readonly { id: string }[]): readonly string[] => data.map(({ id }) => id);

  it("say which of its jobs have ended, the newest first", async () => {
    const { status, headers, body } = await ask("GET", "");
    expect(status).to.equal(200);
    expect(ids(body.data)).to.deep.equal([3, 2, 1, 0].map(idOf));
    expect(body.nextCursor).to.equal(null);
    expect(headers.get("Read-Sequence")).to.equal("12");
    expect(body.data[0]).to.deep.equal({
      id: idOf(3),
      jobId: jobs[3]?.jobId,
      mailingId: null,
      run: 1,
      type: "job.completed",
      progress: jobCompleted().data.counts,
      error: null,
      createdAt: now,
      readAt: null,
      links: { job: `/api/jobs/${jobs[3]?.jobId}` },
      // The read model of jobs is not there in this test.
      name: null,
      subject: null,
    });
  });

  it("are paged by cursor", async () => {
    const first = await ask("GET", "?limit=3");
    const second = await ask("GET", `?limit=3&cursor=${first.body.nextCursor}`);
    expect([...ids(first.body.data), ...ids(second.body.data)]).to.deep.equal([3, 2, 1, 0].map(idOf));
    expect(second.body.nextCursor).to.equal(null);
  });

  it("are shown to no other key, not even of the same tenant", async () => {
    for (const other of [colleague, stranger]) {
      expect((await ask("GET", "", other)).body.data).to.deep.equal([]);
      const { status, body } = await ask("POST", `/${idOf(0)}/read`, other);
      expect([status, body.code]).to.deep.equal([404, "notification-not-found"]);
    }
  });

  it("are read once they are marked so, since the first time and once in the log", async () => {
    const before = (await service.readSide.log.state()).lastSequence;
    const answers = await Promise.all([1, 2, 3].map(() => ask("POST", `/${idOf(1)}/read`)));
    const again = await ask("POST", `/${idOf(1)}/read`);
    for (const { status, headers, body } of [...answers, again]) {
      expect(status).to.equal(200);
      expect(body).to.include({ id: idOf(1), readAt: now });
      expect(headers.get("Event-Sequence")).to.equal(String(before + 1));
    }
    expect((await service.readSide.log.state()).lastSequence).to.equal(before + 1);
    const notices = await service.readSide.log.readNotices(jobs[1] as JobRef);
    expect(notices.map(({ event, actor }) => [event.type, actor])).to.deep.equal([
      ["NotificationRead", `key:${mine.record.id}`],
    ]);
  });

  it("are only those that were not read, where that is asked for", async () => {
    const { body } = await ask("GET", "?unread=true");
    expect(ids(body.data)).to.deep.equal([3, 2, 0].map(idOf));
    expect(ids((await ask("GET", "?unread=false")).body.data)).to.have.length(4);
    const read = (await ask("GET", "")).body.data.find(({ id }: { id: string }) => id === idOf(1));
    expect(read.readAt).to.equal(now);
  });

  for (const path of ["nothing", `${uuid()}.1`, `${uuid()}.0`]) {
    it(`are not found by ${path.length > 10 ? `an unknown id ending in ${path.slice(-2)}` : path}`, async () => {
      const { status, body } = await ask("POST", `/${path}/read`);
      expect([status, body.code]).to.deep.equal([404, "notification-not-found"]);
    });
  }

  it("are not there for a run that has not ended", async () => {
    expect((await ask("POST", `/${jobs[0]?.jobId}.2/read`)).status).to.equal(404);
  });

  for (const query of ["?unread=yes", "?limit=0", "?limit=101", "?cursor=x", "?page=2"]) {
    it(`refuse ${query}`, async () => {
      const { status, body } = await ask("GET", query);
      expect([status, body.code]).to.deep.equal([400, "validation-failed"]);
    });
  }

  it("can be listed, and not marked, with a key that only reads", async () => {
    expect((await ask("GET", "", reader)).status).to.equal(200);
    expect((await ask("POST", `/${idOf(0)}/read`, reader)).status).to.equal(403);
  });

  it("are read all at once, those of this key and once each", async () => {
    const before = (await service.readSide.log.state()).lastSequence;
    const [first, second] = await Promise.all([ask("POST", "/read"), ask("POST", "/read")]);
    expect([first.status, second.status]).to.deep.equal([200, 200]);
    expect([first.body.hasMore, second.body.hasMore]).to.deep.equal([false, false]);
    expect((await service.readSide.log.state()).lastSequence).to.equal(before + 3);
    expect((await ask("GET", "?unread=true")).body.data).to.deep.equal([]);
    expect((await ask("POST", "/read")).body).to.deep.equal({ read: 0, hasMore: false });
    expect((await ask("POST", "/read", reader)).status).to.equal(403);
  });

  it("say that a mailing has ended, to the key that asked for its start, and again after each retry", async () => {
    const { log } = service.readSide;
    const mailing = newJob("acme");
    let last = 0;
    const happens = async (key: typeof mine, ...events: readonly MailingEvent[]): Promise<void> => {
      for (const event of events) {
        last = await log.append(mailing, [{ ...caused(uuid(), event), actor: `key:${key.record.id}` }], last);
      }
      await service.readSide.caughtUp("notifications");
    };
    const asked = { digest: story.sha("c"), parts: 2, recipients: 1500, scheduledAt: null, requestedBy: "key:x" };
    await happens(mine, story.created, story.added, { type: "MailingApprovalRequested", at: now, data: asked });
    await happens(colleague, story.started);
    const counts = story.counts({ total: 1500, sent: 1499, failed: 1 });
    const ended: MailingEvent = {
      type: "MailingCompleted",
      at: now,
      data: { result: "completed-with-failures", counts },
    };
    await happens(colleague, ended);
    const { body } = await ask("GET", "?unread=true");
    expect(
      body.data.map(({ jobId, mailingId, type, progress, links }: Listed) => [jobId, mailingId, type, progress, links]),
    ).to.deep.equal([
      [null, mailing.jobId, "mailing.completed", counts, { mailing: `/api/mailings/${mailing.jobId}` }],
    ]);
    expect((await ask("GET", "?unread=true", colleague)).body.data).to.deep.equal([]);
    const marked = await ask("POST", `/${mailing.jobId}.1/read`);
    expect([marked.status, marked.body.mailingId, marked.body.readAt]).to.deep.equal([200, mailing.jobId, now]);
    await happens(
      colleague,
      { type: "MailingRetried", at: now, data: { parts: [0], scope: "failed", reason: null } },
      ended,
    );
    expect(ids((await ask("GET", "?unread=true")).body.data)).to.deep.equal([`${mailing.jobId}.2`]);
    expect((await ask("POST", "/read")).body).to.deep.equal({ read: 1, hasMore: false });
  });

  it("are refused where they should include what has not been projected", async () => {
    const { status, body } = await ask("GET", "", mine, { "Min-Sequence": "1000" });
    expect([status, body.code]).to.deep.equal([503, "read-model-behind"]);
  });

  it("are marked without the database, and not listed", async () => {
    const api = await startApi({ log: service.readSide.log });
    try {
      const job = newJob();
      await service.readSide.log.append(job, [{ ...caused(uuid(), jobCreated()), actor: "anonymous" }], 0);
      await service.readSide.happens(job, jobStarted(), jobCompleted());
      const listed = await api.ask("GET", "/api/notifications");
      expect([listed.status, listed.body.code]).to.deep.equal([503, "read-model-unavailable"]);
      const marked = await api.ask("POST", `/api/notifications/${job.jobId}.1/read`);
      expect([marked.status, marked.body.readAt]).to.deep.equal([200, now]);
    } finally {
      await api.close();
    }
  });
});
