import { expect } from "chai";
import { streamName } from "../../src/event-log/subjects.ts";
import { encodeTurn } from "../../src/turns/encode-turn.ts";
import { createJetStreamTurns } from "../../src/turns/jetstream-turns.ts";
import { createJetStreamWorkQueue } from "../../src/turns/jetstream-work-queue.ts";
import { subjectOfTurn } from "../../src/turns/turn-subjects.ts";
import type { QueuedTurn, Turns } from "../../src/turns/turns.ts";
import type { WorkQueue } from "../../src/turns/work-queue.ts";
import { preparePowerCut } from "../nats/power-cut.ts";
import { eventually } from "../support/eventually.ts";
import { queuedTurn } from "../support/examples.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";

describe("Turns after a power cut that took the newest of them, and not what NATS knows of the lanes", () => {
  let nats: OwnNats;
  let opened: OpenedLog;
  let turns: Turns;
  let queue: WorkQueue;
  let close: () => void;

  beforeEach(async () => {
    nats = await startOwnNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    const settings = { prefix: nats.prefix, replicas: 1, type: "email.send", ackWaitMs: 15_000 };
    turns = createJetStreamTurns(opened.connection, settings);
    queue = createJetStreamWorkQueue(opened.connection, settings, () => {});
    close = queue.onArrival(() => {});
  });
  afterEach(async () => {
    close();
    await opened.close();
    await nats.cleanUp();
  });

  const stream = (): string => streamName(nats.prefix, "TURNS");
  const turnsOf = (name: string, count: number): readonly QueuedTurn[] =>
    Array.from({ length: count }, (_, job) => queuedTurn({ jobId: `${name}-${job}` }));
  const put = async (name: string, count: number): Promise<void> => {
    for (const turn of turnsOf(name, count)) await eventually(() => turns.put(turn, "lane"));
  };
  /** As a process that does not notice the power cut. */
  const putUnaware = async (name: string, count: number): Promise<void> => {
    const jetstream = opened.connection.nats.jetstream({ timeout: 500 });
    for (const turn of turnsOf(name, count)) {
      const subject = subjectOfTurn(nats.prefix, { ...turn, place: "lane" });
      await eventually(() => jetstream.publish(subject, encodeTurn(turn)));
    }
  };
  const takeAndDo = async (count: number): Promise<void> => {
    let done = 0;
    await eventually(async () => {
      for (const { acknowledge } of await queue.take(count - done)) {
        acknowledge();
        done += 1;
      }
      expect(done).to.equal(count);
    });
    const { streams } = await opened.connection.nats.jetstreamManager({ checkAPI: false });
    await eventually(async () => expect((await streams.info(stream())).state.messages).to.equal(0));
  };
  const isThere = async (jobId: string): Promise<boolean> => (await turns.jobs())({ tenant: "default", jobId });
  /** Of the named turn: newer releases give it from the first. */
  const isTaken = (jobId: string) =>
    eventually(async () => {
      if (!(await isThere(jobId))) await turns.put(queuedTurn({ jobId }), "lane");
      expect((await queue.take(1)).map(({ turn }) => turn.jobId)).to.deep.equal([jobId]);
    }, 20_000);
  /** All are done, and NATS forgets that the last of them were put. */
  const loseThoseThatAreDone = async (): Promise<boolean> => {
    await put("before", 3);
    await takeAndDo(3);
    const powerCut = await preparePowerCut(nats, stream());
    if (powerCut === null) return false;
    await put("lost", 10);
    await takeAndDo(10);
    await powerCut();
    return true;
  };

  it("are given to workers", async () => {
    if (!(await loseThoseThatAreDone())) return;
    await put("new", 12);
    await eventually(async () => expect((await queue.take(1))[0]?.turn.jobId).to.equal("new-0"), 20_000);
  });

  for (const [which, count] of Object.entries({ "fewer than were lost": 1, "more than were lost": 12 })) {
    it(`are put again, with ${which} put since`, async () => {
      if (!(await loseThoseThatAreDone())) return;
      await putUnaware("new", count);
      await isTaken("new-0");
    });
  }

  it("do not stay there for ever though they are done", async () => {
    await put("done", 3);
    const powerCut = await preparePowerCut(nats, stream());
    if (powerCut === null) return;
    await takeAndDo(3);
    await powerCut();
    await eventually(async () => expect(await isThere("done-0")).to.equal(false), 20_000);
    await isTaken("done-0");
  });
});
