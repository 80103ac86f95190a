import { expect } from "chai";
import type { JobQueued } from "../../src/domain/job/events.ts";
import type { Delivery } from "../../src/event-log/delivery.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { streamName } from "../../src/event-log/subjects.ts";
import { isAtLeast } from "../../src/nats/server-version.ts";
import { createJetStreamWorkQueue } from "../../src/workers/jetstream-work-queue.ts";
import type { WorkQueue } from "../../src/workers/work-queue.ts";
import { eventually } from "../support/eventually.ts";
import { caused, jobCreated, jobQueued } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";

describe("A queue of turns", () => {
  let nats: TestNats;
  let opened: OpenedLog;

  beforeEach(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
  });
  afterEach(async () => {
    await opened?.close();
    await nats?.cleanUp();
  });

  const openQueue = (): WorkQueue =>
    createJetStreamWorkQueue(
      opened.connection,
      { prefix: nats.prefix, type: "email.send", ackWaitMs: 15_000 },
      () => {},
    );
  const queueTurn = async (priority: "high" | "normal" | "low" = "normal"): Promise<JobRef> => {
    const job = newJob();
    await opened.log.record(job, [caused(`${job.jobId}/queued`, jobQueued({ priority }))]);
    return job;
  };
  const idsOf = (deliveries: readonly Delivery<JobQueued>[]): string[] => deliveries.map(({ entry }) => entry.jobId);

  it("hands out what it was not told of, as soon as it has looked", async () => {
    const { jobId } = await queueTurn("low");
    const queue = openQueue();
    let calls = 0;
    const stop = queue.onArrival(() => {
      calls += 1;
    });
    await eventually(async () => expect(idsOf(await queue.take(1))).to.deep.equal([jobId]));
    expect(calls).to.be.at.least(1);
    stop();
  });

  it("hands back what it found when no caller takes it, for another worker", async () => {
    const { jobId } = await queueTurn();
    const [idle, other] = [openQueue(), openQueue()];
    // It looks, and its caller has found other work.
    expect(await idle.take(1)).to.deep.equal([]);
    await eventually(async () => expect(idsOf(await other.take(1))).to.deep.equal([jobId]), 5000);
  });

  it("hands out what it was told of in the order of the lanes, each turn once", async () => {
    const queue = openQueue();
    let isTold = false;
    const stop = queue.onArrival(() => {
      isTold = true;
    });
    await queue.take(1);
    const low = await queueTurn("low");
    const normal = await queueTurn("normal");
    const high = await queueTurn("high");
    await eventually(() => expect(isTold).to.equal(true));
    await opened.connection.nats.flush();
    const taken: string[] = [];
    await eventually(async () => {
      taken.push(...idsOf(await queue.take(3)));
      expect(taken).to.have.lengthOf(3);
    });
    expect(taken).to.deep.equal([high, normal, low].map(({ jobId }) => jobId));
    expect(await queue.take(3)).to.deep.equal([]);
    stop();
  });

  it("recreates a deleted consumer, and hands out what came meanwhile", async () => {
    const queue = openQueue();
    await queue.take(1);
    const manager = await opened.connection.nats.jetstreamManager();
    await manager.consumers.delete(streamName(nats.prefix, "JOBS"), "worker-normal");
    const { jobId } = await queueTurn();
    await eventually(async () => expect(idsOf(await queue.take(1))).to.deep.equal([jobId]), 20_000);
  });

  it("leaves behind what is none of its own: an empty lane costs no more in a long log", async () => {
    // Later servers keep count of what waits, and do not say up to where they have looked.
    if (isAtLeast(opened.connection.nats.info?.version ?? "", [2, 10])) return;
    const queue = openQueue();
    // As a worker that is busy: an idle one asks every five seconds.
    await queue.take(1, 1);
    for (let count = 0; count < 50; count += 1) {
      const job = newJob();
      await opened.log.append(job, [caused(`${job.jobId}/created`, jobCreated())], 0);
    }
    const { lastSequence } = await opened.log.state();
    const manager = await opened.connection.nats.jetstreamManager();
    await eventually(async () => {
      await queue.take(1, 1);
      const { delivered } = await manager.consumers.info(streamName(nats.prefix, "JOBS"), "worker-low-crowd");
      expect(delivered.stream_seq).to.be.at.least(lastSequence);
    }, 5000);
  });
});
