import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect } from "chai";
import type { Knex } from "knex";
import { createReadPositions } from "../../projections/following/read-position.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import { createLogQueries } from "../../projections/jobs/recipients/log-queries.ts";
import { createScheduleQueries } from "../../projections/schedules/queries.ts";
import { createDatabase } from "../../src/database/database.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { jobCreated } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { createMemoryAnnouncements } from "../support/memory/memory-announcements.ts";
import { type Answered, mailing, type RunningApi, startApi } from "../support/running-api.ts";

describe("While the database is away", () => {
  let api: RunningApi;
  let db: Knex;

  before(async () => {
    db = createDatabase("mysql://nobody@127.0.0.1:1/nowhere");
    api = await startApi({
      jobs: createJobQueries(db),
      logs: createLogQueries(db),
      readPosition: createReadPositions(db, createMemoryAnnouncements()),
    });
  });
  after(async () => {
    await api.close();
    await db.destroy();
  });

  const accept = async (): Promise<string> => (await api.ask("POST", "/api/jobs", { body: mailing })).body.jobId;
  const expectAway = ({ status, headers, body }: Answered): void => {
    expect({ status, code: body.code }).to.deep.equal({ status: 503, code: "read-model-unavailable" });
    expect(headers.get("Retry-After")).to.equal("2");
    expect(JSON.stringify(body)).not.to.match(/127\.0\.0\.1|ECONN|select/i);
  };

  it("a job is accepted, shown, cancelled and told in full", async () => {
    const jobId = await accept();
    expect((await api.ask("GET", `/api/jobs/${jobId}`)).body).to.deep.include({
      status: "queued",
      subject: mailing.subject,
    });
    expect((await api.ask("DELETE", `/api/jobs/${jobId}`)).body).to.include({ status: "cancelled" });
    expect((await api.ask("GET", `/api/jobs/${jobId}`)).body).to.include({ status: "cancelled" });
    expect((await api.ask("GET", `/api/jobs/${jobId}/events`)).body).to.have.length(2);
  });

  it("a schedule is refused, also where the database goes away between two questions", async () => {
    const schedules = createScheduleQueries(db);
    const all: typeof schedules.all = async () => ({ scheduleIds: [], readSequence: 0 });
    const body = { name: "Weekly", cron: "30 8 * * mon", timeZone: "Europe/Berlin", job: mailing };
    const askFor = async (queries: typeof schedules): Promise<Answered> => {
      const own = await startApi({ schedules: queries });
      try {
        return await own.ask("POST", "/api/schedules", { body });
      } finally {
        await own.close();
      }
    };
    expectAway(await askFor(schedules));
    expectAway(await askFor({ ...schedules, all }));
  });

  it("lists and logs say so, and when to try again", async () => {
    const jobId = await accept();
    expectAway(await api.ask("GET", "/api/jobs"));
    expectAway(await api.ask("GET", `/api/jobs/${jobId}/logs`));
    expectAway(await api.ask("GET", `/api/jobs/${jobId}`, { headers: { "Min-Sequence": "1" } }));
  });
});

describe("While the database is frozen", () => {
  it("a job is shown all the same, after a moment", async () => {
    const accepted: Socket[] = [];
    const frozen = createServer((socket) => accepted.push(socket)).listen(0, "127.0.0.1");
    await once(frozen, "listening");
    const db = createDatabase(`mysql://nobody@127.0.0.1:${(frozen.address() as AddressInfo).port}/nowhere`);
    const api = await startApi({ jobs: createJobQueries(db) });
    const { body: job } = await api.ask("POST", "/api/jobs", { body: mailing });
    const began = performance.now();
    expect((await api.ask("GET", `/api/jobs/${job.jobId}`)).body).to.include({ status: "queued" });
    expect(performance.now() - began).to.be.lessThan(15_000);
    await api.close();
    frozen.close();
    // Else the driver waits for ten seconds for the server's first words.
    for (const socket of accepted) socket.destroy();
    await db.destroy();
  });
});

describe("While the log is away", () => {
  let service: ApiWithReadSide;
  let api: RunningApi;

  before(async () => {
    service = await startApiWithReadSide();
    const { readSide } = service;
    const away = async (): Promise<never> => {
      throw new Unavailable("There is no connection to NATS.");
    };
    const log = { ...readSide.log, readHistory: away, readDecisions: away, lastDecision: away, append: away };
    api = await startApi({
      log,
      jobs: createJobQueries(readSide.db),
      logs: createLogQueries(readSide.db),
      readPosition: readSide.positions,
    });
  });
  after(async () => {
    await api.close();
    await service.close();
  });

  it("what was projected is answered all the same", async () => {
    const job = newJob();
    await service.readSide.happens(job, jobCreated());
    service.readSide.startProjectors();
    await service.readSide.caughtUp();
    expect(await api.ask("GET", `/api/jobs/${job.jobId}`)).to.include({ status: 200 });
    expect(await api.ask("GET", `/api/jobs/${job.jobId}/logs`)).to.deep.include({ status: 200, body: [] });
    expect((await api.ask("GET", "/api/jobs")).body.data).to.have.length(1);
  });

  it("no answer says that a job does not exist, as that is unknown", async () => {
    for (const path of ["", "/logs", "/events"]) {
      const { status, body } = await api.ask("GET", `/api/jobs/${newJob().jobId}${path}`);
      expect({ status, code: body.code }).to.deep.equal({ status: 503, code: "event-log-unavailable" });
    }
  });
});
