import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { streamName } from "../../src/event-log/subjects.ts";
import { connectJetStream } from "../../src/nats/connection.ts";
import { createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import type { OwnNats } from "../support/services.ts";
import { type Stage, setStageOnOwnNats } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const count = 11;
/** Longer than anything that is asked at a start waits for its answer, but the making of a stream. */
const busyMs = 6500;

describe("Many services that are started in the same moment", function () {
  this.timeout(120_000);

  let stage: Stage<OwnNats>;
  let services: Waybill[] = [];

  before(async () => {
    stage = await setStageOnOwnNats();
  });
  after(async () => {
    await stage?.nats.resume();
    await Promise.all(services.map((service) => service.stop()));
    await stage?.cleanUp();
  });

  /** Returns when the first of them has begun to make what all of them need. */
  async function untilTheFirstHasBegun(): Promise<void> {
    const connection = await connectJetStream(stage.nats.config, "test", () => {});
    const manager = await connection.nats.jetstreamManager();
    await eventually(() => manager.streams.info(streamName(stage.nats.prefix, "JOBS")));
    await connection.close();
  }

  it("all come up on a NATS that is busy, though each has to make what is not there yet", async () => {
    const roles = { ROLES: "api,worker,scheduler,webhooks" };
    const starting = Array.from({ length: count }, () => startWaybill(stage.surroundings, roles));
    const settled = Promise.allSettled(starting);
    await untilTheFirstHasBegun();
    stage.nats.suspend();
    await pause(busyMs);
    await stage.nats.resume();
    const started = await settled;
    services = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(started.flatMap((result) => (result.status === "rejected" ? [String(result.reason)] : []))).to.deep.equal(
      [],
    );

    const client = createApiClient(services[0]?.url ?? "");
    const jobId = await client.create({ subject: "S", body: "B", recipients: ["ada@example.com"] });
    expect(await client.ended(jobId)).to.include({ status: "completed" });
  });
});
