import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { preloading } from "../support/preloading.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

/** Stands for a defect: each SIGUSR2 makes the process throw an error of its own where nothing catches it. */
const breakOnSignal = `
  import { isMainThread } from "node:worker_threads";
  let broken = 0;
  const fail = () => { throw new Error("broken on purpose, " + (broken += 1)); };
  if (isMainThread) process.on("SIGUSR2", () => setTimeout(fail, 0));
`;

describe("an error that nothing catches", function () {
  this.timeout(120_000);

  let stage: Stage;
  let client: ApiClient;
  let service: WaybillProcess;
  let worker: WaybillProcess;

  const startWorker = (): Promise<WaybillProcess> =>
    spawnWaybill(stage.surroundings, "worker", {
      LOG_LEVEL: "error",
      ...preloading(breakOnSignal),
    });

  /** A mailing whose mails are with the mail server, which does not answer yet. */
  const mailsInFlight = async (recipients: readonly string[]): Promise<string> => {
    stage.mailServer.hold();
    const jobId = await client.create({ subject: "Broken", body: "text", recipients, onUnknown: "skip" });
    await eventually(() => expect(stage.mailServer.held).to.have.lengthOf(recipients.length), 30_000);
    return jobId;
  };

  before(async () => {
    stage = await setStage();
    [service, worker] = await Promise.all([spawnWaybill(stage.surroundings, "api,scheduler,projector"), startWorker()]);
    client = createApiClient(service.url);
  });
  after(async () => {
    stage.mailServer.release();
    for (const each of [service, worker]) await each.kill();
    await stage.cleanUp();
  });

  it("ends the process with exit code 1, after the mails in flight are finished and recorded", async () => {
    const jobId = await mailsInFlight(["ada@example.com", "bob@example.com"]);
    process.kill(worker.pid, "SIGUSR2");
    await eventually(() => expect(worker.output()).to.contain("broken on purpose, 1"));
    expect(worker.hasEnded()).to.equal(false);
    stage.mailServer.release();
    expect(await worker.exitCode(), worker.output()).to.equal(1);
    const fatal = worker
      .output()
      .split("\n")
      .filter((line) => line.includes('"level":"fatal"'));
    expect(fatal).to.have.lengthOf(1);
    expect(JSON.parse(fatal[0] as string)).to.have.nested.property("err.stack");

    worker = await startWorker();
    const { progress } = await client.ended(jobId);
    expect(progress).to.include({ total: 2, sent: 2, unknown: 0 });
    expect(stage.mailServer.mails.flatMap(({ to }) => to).sort()).to.deep.equal(["ada@example.com", "bob@example.com"]);
  });

  it("ends it at once where another one follows, however much is in flight", async () => {
    await mailsInFlight(["eve@example.com"]);
    process.kill(worker.pid, "SIGUSR2");
    await eventually(() => expect(worker.output()).to.contain("broken on purpose, 1"));
    process.kill(worker.pid, "SIGUSR2");
    const toldAt = Date.now();
    expect(await worker.exitCode()).to.equal(1);
    expect(Date.now() - toldAt, "ms to end").to.be.lessThan(5000);
    expect(worker.output()).to.contain("broken on purpose, 2");
  });
});
