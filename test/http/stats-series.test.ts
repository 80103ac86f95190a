import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { jobCreated, jobStarted, now, recipientFailed, recipientSent } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { tablesOf } from "../support/read-side.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const ago = (ms: number): string => new Date(Date.parse(now) - ms).toISOString();

describe("What happened over time", () => {
  let service: ApiWithReadSide;

  before(async () => {
    service = await startApiWithReadSide();
    const { readSide } = service;
    const mailed = async (tenant: string, at: string): Promise<void> => {
      const sent = [recipientSent({}, at), recipientFailed({ recipient: 1 }, at)];
      await readSide.happens(newJob(tenant), jobCreated({}, at), jobStarted({}, at), ...sent);
    };
    // In the order of the log: more than a year ago, more than a month ago, some days ago, and now.
    for (const ms of [400 * dayMs, 40 * dayMs, 5 * dayMs, 5 * dayMs - minuteMs, 30 * minuteMs, 0]) {
      await mailed("default", ago(ms));
    }
    await mailed("acme", now);
    // The first event of an hour is when what is too old is dropped.
    await mailed("default", new Date(Math.floor(Date.parse(now) / hourMs) * hourMs).toISOString());
    readSide.startProjector(jobsProjector);
    await readSide.caughtUp("jobs");
  });
  after(() => service.close());

  const ask = (query: string) => service.api.ask("GET", `/api/stats/series${query}`);
  type Point = { readonly at: string; readonly mailsSent: number; readonly mailsFailed: number };
  const sentIn = (points: readonly Point[]) =>
    points.filter(({ mailsSent }) => mailsSent > 0).map(({ at, mailsSent }) => [at, mailsSent]);

  it("is told minute by minute, of the caller's tenant alone, and of the minutes without an event too", async () => {
    const { status, body } = await ask(`?from=${ago(hourMs)}&step=1m`);
    expect(status).to.equal(200);
    expect(body).to.include({ from: ago(hourMs), to: now, stepSeconds: 60 });
    expect(body.points).to.have.length(60);
    expect(sentIn(body.points)).to.deep.equal([[ago(30 * minuteMs), 2]]);
    const { body: next } = await ask(`?from=${now}&to=${ago(-minuteMs)}&step=1m`);
    expect(next.points).to.have.length(1);
    expect(next.points[0]).to.include({ at: now, mailsSent: 1, mailsFailed: 1, jobsCreated: 1, mailsBounced: 0 });
  });

  it("is of the last 24 hours, in steps that a chart can show, if nothing is asked for", async () => {
    const { body } = await ask("");
    expect(body).to.include({ to: now, stepSeconds: 300 });
    expect(body.points).to.have.length(288);
  });

  it("is told by the hour for a year, and by the minute for a month", async () => {
    const { body: year } = await ask(`?from=${ago(365 * dayMs)}&step=1d`);
    const dayOf = (ms: number): string => `${ago(ms).slice(0, 10)}T00:00:00.000Z`;
    expect(sentIn(year.points)).to.deep.equal([
      [dayOf(40 * dayMs), 1],
      [dayOf(5 * dayMs), 2],
      [dayOf(0), 3],
    ]);
    const own = (table: string) => service.readSide.db(table).where({ tenant: "default" });
    expect(await own("stats_minutes")).to.have.length(4);
    expect(await own("stats_hours")).to.have.length(3);
  });

  it("is the same after a rebuild", async () => {
    const live = await tablesOf(service.readSide.db, jobsProjector);
    await service.readSide.rebuild([jobsProjector]);
    const { stats_minutes: minutes, stats_hours: hours } = await tablesOf(service.readSide.db, jobsProjector);
    expect({ minutes, hours }).to.deep.equal({ minutes: live["stats_minutes"], hours: live["stats_hours"] });
  });

  for (const [name, query, pointer] of [
    ["a time that ends before it begins", `?from=${now}&to=${ago(hourMs)}`, "?from"],
    ["minutes that are no longer kept", `?from=${ago(40 * dayMs)}&to=${ago(39 * dayMs)}&step=1m`, "?step"],
    ["more points than a chart has room for", `?from=${ago(20 * dayMs)}&step=1m`, "?step"],
    ["a step that there is not", "?step=2m", "?step"],
  ] as const) {
    it(`is refused for ${name}`, async () => {
      const { status, body } = await ask(query);
      expect([status, body.errors[0].pointer]).to.deep.equal([400, pointer]);
    });
  }
});
