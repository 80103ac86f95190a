import { expect } from "chai";
import { createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { jobsIn, scheduleEventsIn } from "../support/schedule-followers.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

/** A schedule can fire once a minute. */
const withinMs = 200_000;

describe("A scheduler that is killed as soon as a schedule has fired", function () {
  this.timeout(600_000);

  let stage: Stage;
  let service: WaybillProcess;
  let opened: OpenedLog;
  let schedulers: WaybillProcess[];

  before(async () => {
    stage = await setStage();
    service = await spawnWaybill(stage.surroundings, "api,projector,worker");
    opened = await openJetStreamLog(stage.nats.config, stage.nats.prefix);
    schedulers = [await spawnWaybill(stage.surroundings, "scheduler")];
  });
  after(async () => {
    await opened?.close();
    await Promise.all([service, ...(schedulers ?? [])].map((process) => process?.terminate()));
    await stage?.cleanUp();
  });

  const fired = async (): Promise<readonly string[]> =>
    (await scheduleEventsIn(opened.log)).flatMap(({ event }) =>
      event.type === "ScheduleFired" ? [event.data.madeId] : [],
    );

  it("is followed by one that makes each job once, and sends it", async () => {
    const client = createApiClient(service.url);
    const job = { subject: "Every minute", body: "Hello", recipients: ["ada@example.com"] };
    const asked = { name: "Minutely", cron: "* * * * *", overlap: "queue", catchUp: "one", job };
    await client.createSchedule(asked);
    await eventually(async () => expect(await fired()).to.have.lengthOf.at.least(1), withinMs);
    await schedulers[0]?.kill();
    schedulers.push(await spawnWaybill(stage.surroundings, "scheduler"));
    const [first = ""] = await fired();
    await eventually(async () => expect((await jobsIn(opened.log))[0]).to.equal(first), withinMs);
    await client.ended(first, withinMs);
    await eventually(async () => expect((await jobsIn(opened.log)).length).to.be.greaterThan(1), withinMs);
    const [made, named] = [await jobsIn(opened.log), await fired()];
    expect(new Set(made).size).to.equal(made.length);
    expect(named.slice(0, made.length)).to.deep.equal(made);
  });
});
