import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { StreamAPI } from "nats";
import { ensureTurnsStream } from "../../src/event-log/jetstream-streams.ts";
import { streamName } from "../../src/event-log/subjects.ts";
import { createJetStreamTurns } from "../../src/turns/jetstream-turns.ts";
import { createJetStreamWorkQueue } from "../../src/turns/jetstream-work-queue.ts";
import type { Turns } from "../../src/turns/turns.ts";
import type { WorkQueue } from "../../src/turns/work-queue.ts";
import { eventually } from "../support/eventually.ts";
import { queuedTurn } from "../support/examples.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { turnsContract } from "./turns-contract.ts";

describe("Turns on a work queue of JetStream", () => {
  let nats: TestNats;
  let opened: OpenedLog;
  let turns: Turns;
  let closes: (() => void)[];

  beforeEach(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    turns = createJetStreamTurns(opened.connection, { prefix: nats.prefix, replicas: 1 });
    closes = [];
  });
  afterEach(async () => {
    for (const close of closes) close();
    await opened?.close();
    await nats?.cleanUp();
  });

  const openQueue = (type = "email.send", arrived: () => void = () => {}): WorkQueue => {
    const settings = { prefix: nats.prefix, replicas: 1, type, ackWaitMs: 15_000 };
    const queue = createJetStreamWorkQueue(opened.connection, settings, () => {});
    closes.push(queue.onArrival(arrived));
    return queue;
  };
  const stream = (): string => streamName(nats.prefix, "TURNS");
  const manage = () => opened.connection.nats.jetstreamManager({ checkAPI: false });
  const takes = (queue: WorkQueue, jobId: string) =>
    eventually(async () => {
      const [taken] = await queue.take(1);
      expect(taken?.turn.jobId).to.equal(jobId);
    }, 20_000);

  turnsContract(() => ({ turns, openQueue }));

  it("go on after their consumer was deleted, whether or not a worker waited", async () => {
    const queue = openQueue();
    await queue.take(1);
    await (await manage()).consumers.delete(stream(), "email-send-normal-lane");
    await turns.put(queuedTurn({ jobId: "job-1" }), "lane");
    await takes(queue, "job-1");
    await (await manage()).consumers.delete(stream(), "email-send-normal-lane");
    await turns.put(queuedTurn({ jobId: "job-2" }), "lane");
    await takes(queue, "job-2");
  });

  it("are asked for anew where a consumer has a new leader, who does not know that a worker waits", async () => {
    let arrivals = 0;
    const queue = openQueue("email.send", () => {
      arrivals += 1;
      void queue.take(1);
    });
    await queue.take(1);
    let requests = 0;
    const asked = opened.connection.nats.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${stream()}.email-send-high-lane`, {
      callback: () => {
        requests += 1;
      },
    });
    const elected = (lane: string): void =>
      opened.connection.nats.publish(`$JS.EVENT.ADVISORY.CONSUMER.LEADER_ELECTED.${stream()}.${lane}`);
    // An answer that comes late counts as an arrival too: on a busy machine, an election of others is tried again.
    await eventually(async () => {
      const before = [arrivals, requests];
      elected("report-build-high-lane");
      await pause(400);
      expect([arrivals, requests]).to.deep.equal(before);
    });
    const [arrivalsBefore, requestsBefore] = [arrivals, requests];
    elected("email-send-high-lane");
    await eventually(() => {
      expect(arrivals).to.be.above(arrivalsBefore);
      expect(requests).to.be.at.least(requestsBefore + 2);
    });
    asked.unsubscribe();
  });

  it("are asked for together once they have waited for so long that all workers must be busy", async () => {
    for (let job = 0; job < 12; job += 1) await turns.put(queuedTurn({ jobId: `job-${job}` }), "lane");
    const queue = openQueue();
    await takes(queue, "job-0");
    await pause(150);
    await takes(queue, "job-1");
    let requests = 0;
    const asked = opened.connection.nats.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${stream()}.email-send-normal-lane`, {
      callback: () => {
        requests += 1;
      },
    });
    const taken = await queue.take(5, 2);
    expect(taken.map(({ turn }) => turn.jobId)).to.deep.equal(["job-2", "job-3", "job-4", "job-5", "job-6"]);
    expect(requests).to.equal(1);
    asked.unsubscribe();
  });

  const losses = {
    deleted: (streams: StreamAPI) => streams.delete(stream()),
    purged: (streams: StreamAPI) => streams.purge(stream()),
  };
  for (const [loss, lose] of Object.entries(losses)) {
    it(`can be put and taken again after the stream was ${loss}`, async () => {
      const queue = openQueue();
      await turns.put(queuedTurn({ jobId: "lost" }), "lane");
      await lose((await manage()).streams);
      expect((await turns.jobs())({ tenant: "default", jobId: "lost" })).to.equal(false);
      await turns.put(queuedTurn({ jobId: "job-1" }), "lane");
      await takes(queue, "job-1");
      await lose((await manage()).streams);
      await turns.put(queuedTurn({ jobId: "job-2" }), "overflow");
      await takes(queue, "job-2");
    });
  }

  const putSome = async (name: string, count: number): Promise<void> => {
    for (let job = 0; job < count; job += 1) await turns.put(queuedTurn({ jobId: `${name}-${job}` }), "lane");
  };
  /** Another process makes the stream again while it is being deleted, which takes the longer, the more is in it. */
  const deletedAndMade = async (makeAgain: (other: OpenedLog["connection"]) => Promise<unknown>): Promise<void> => {
    for (const type of ["email.send", "webhook.deliver", "report.export"]) await openQueue(type).waiting();
    await putSome("lost", 50);
    const other = await openJetStreamLog(nats.config, nats.prefix);
    const { streams } = await other.connection.nats.jetstreamManager({ checkAPI: false });
    let isDeleted = false;
    const deleting = (await manage()).streams.delete(stream()).finally(() => {
      isDeleted = true;
    });
    const untilGone = async (): Promise<void> => {
      while (!isDeleted && (await streams.info(stream()).catch(() => null)) !== null);
    };
    const made = untilGone().then(() => makeAgain(other.connection));
    const ends = await Promise.allSettled([deleting, made]);
    await other.close();
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  };

  it("are whole in a stream that is made again in the moment of its deletion", async () => {
    for (let round = 0; round < 3; round += 1) {
      await deletedAndMade((other) => ensureTurnsStream(other, { prefix: nats.prefix, replicas: 1 }));
      await turns.put(queuedTurn({ jobId: "job-1" }), "lane");
      await takes(openQueue(), "job-1");
    }
  });

  it("count as lost where the server has lost them, as NATS 2.9 does in such a stream, and can be put again", async () => {
    const { streams } = await manage();
    const { config } = await streams.info(stream());
    const makeAndPut = async ({ nats: other }: OpenedLog["connection"]): Promise<void> => {
      await (await other.jetstreamManager({ checkAPI: false })).streams.add(config);
      await putSome("job", 2);
    };
    for (let round = 0; round < 5; round += 1) {
      // It can be worse off: then nothing can be put, or there is no stream.
      const isMade = await deletedAndMade(makeAndPut).then(
        () => true,
        () => false,
      );
      if (isMade) {
        if (!(await turns.jobs())({ tenant: "default", jobId: "job-0" })) await putSome("job", 2);
        await takes(openQueue(), "job-0");
      }
      await streams.delete(stream()).catch(() => {});
      await streams.add(config);
    }
  });

  it("are not removed by what is said of the turns of a stream that was there before", async () => {
    const queue = openQueue();
    await turns.put(queuedTurn({ jobId: "former" }), "lane");
    const taken = await eventually(async () => {
      const [first] = await queue.take(1);
      if (first === undefined) throw new Error("no turn yet");
      return first;
    });
    await (await manage()).streams.delete(stream());
    await putSome("job", 2);
    await eventually(async () => expect(await queue.waiting()).to.equal(2));
    taken.acknowledge();
    await opened.connection.nats.flush();
    await takes(queue, "job-0");
  });

  it("stay away for as long as a worker says, though that is no whole number of nanoseconds", async () => {
    const queue = openQueue();
    await turns.put(queuedTurn(), "lane");
    const taken = await eventually(async () => {
      const [first] = await queue.take(1);
      if (first === undefined) throw new Error("no turn yet");
      return first;
    });
    taken.giveBack(800.1234567);
    const givenBackAt = performance.now();
    await takes(queue, "job-1");
    expect(performance.now() - givenBackAt).to.be.greaterThan(700);
  });

  it("are dropped where they cannot be read, and delay no other", async () => {
    const notices: string[] = [];
    const settings = { prefix: nats.prefix, replicas: 1, type: "email.send", ackWaitMs: 15_000 };
    const queue = createJetStreamWorkQueue(opened.connection, settings, (notice) => notices.push(notice));
    closes.push(queue.onArrival(() => {}));
    const subject = `${nats.prefix}.turns.email-send.normal.lane.default.broken.1`;
    await opened.connection.nats.jetstream().publish(subject, '{"run":"first"}');
    await turns.put(queuedTurn(), "lane");
    await takes(queue, "job-1");
    expect(notices).to.have.lengthOf(1);
    await eventually(async () => expect((await (await manage()).streams.info(stream())).state.messages).to.equal(1));
  });
});
