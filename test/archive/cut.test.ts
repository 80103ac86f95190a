import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { DiscardPolicy, type JetStreamManager, type NatsConnection, type StreamConfig } from "nats";
import { CutRefused, cutBeginning } from "../../src/archive/jetstream-cut.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { openShutLog, takeLimits } from "../../src/event-log/jetstream-log-limits.ts";
import { ensureStreams } from "../../src/event-log/jetstream-streams.ts";
import { eventually } from "../support/eventually.ts";
import { jobCreated } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { happen, newJob } from "../support/happen.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";

const withManager = (nats: NatsConnection, manager: JetStreamManager): NatsConnection =>
  new Proxy(nats, {
    get: (target, name) => (name === "jetstreamManager" ? async () => manager : Reflect.get(target, name)),
  });

describe("Cutting off the beginning of the log", () => {
  let nats: TestNats;
  let opened: OpenedLog;
  let manager: JetStreamManager;
  let prefix: string;

  beforeEach(async () => {
    nats = await startNats();
    prefix = nats.prefix;
    opened = await openJetStreamLog(nats.config, prefix);
    manager = await opened.connection.nats.jetstreamManager();
    for (let job = 0; job < 10; job += 1) await happen(opened.log, newJob(), [jobCreated()]);
  });
  afterEach(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  const stream = (): string => `${prefix}_JOBS`;
  const look = async () => {
    const { config, state } = await manager.streams.info(stream());
    const { max_msgs, max_msg_size, discard, deny_delete, deny_purge } = config;
    const limits = { max_msgs, max_msg_size, discard, deny_delete, deny_purge };
    return { first: state.first_seq, messages: state.messages, limits };
  };
  const usual = { max_msgs: -1, max_msg_size: -1, discard: DiscardPolicy.New, deny_delete: true, deny_purge: true };

  it("takes exactly the entries before a place, step by step, and leaves the limits as they were", async () => {
    await cutBeginning(opened.connection, prefix, [
      { to: 3, count: 3 },
      { to: 7, count: 4 },
    ]);
    expect(await look()).to.deep.equal({ first: 8, messages: 3, limits: usual });
    await cutBeginning(opened.connection, prefix, [{ to: 7, count: 4 }]);
    expect(await look()).to.deep.equal({ first: 8, messages: 3, limits: usual });
  });

  it("takes no entry that is appended meanwhile, and refuses none", async () => {
    let isOver = false;
    const stored: number[] = [];
    const writing = (async () => {
      while (!isOver) stored.push(await happen(opened.log, newJob(), [jobCreated()]));
    })();
    for (let to = 1; to <= 9; to += 1) await cutBeginning(opened.connection, prefix, [{ to, count: 1 }]);
    isOver = true;
    await writing;
    expect(stored.length).to.be.greaterThan(0);
    expect(await look()).to.deep.equal({ first: 10, messages: stored.length + 1, limits: usual });
  });

  it("is refused where the stream holds more or fewer entries than the archive", async () => {
    for (const count of [2, 4]) {
      const failure = await failureOf(cutBeginning(opened.connection, prefix, [{ to: 3, count }]));
      expect(failure).to.be.instanceOf(CutRefused);
    }
    expect(await failureOf(cutBeginning(opened.connection, prefix, [{ to: 10, count: 10 }]))).to.be.instanceOf(
      CutRefused,
    );
    expect(await look()).to.deep.equal({ first: 1, messages: 10, limits: usual });
  });

  it("takes nothing where the log is larger than its limit, which would take more", async () => {
    const { config } = await manager.streams.info(stream());
    // NATS 2.9 drops what is over the limit by itself.
    await manager.streams.update(stream(), { ...config, max_bytes: 1000 });
    const { messages } = await look();
    await cutBeginning(opened.connection, prefix, [{ to: 3, count: 3 }]).catch(() => {});
    expect((await look()).messages).to.equal(messages);
  });

  /** A connection of a process that stands still before it sends an update; `late` sends it after all. */
  const standingStillAt = (isAt: (config: Partial<StreamConfig>) => boolean) => {
    let held: Partial<StreamConfig> | null = null;
    const { streams } = manager;
    const still = Object.assign(Object.create(streams) as typeof streams, {
      update: (name: string, config: Partial<StreamConfig>) => {
        if (name !== stream() || held !== null || !isAt(config)) return streams.update(name, config);
        held = config;
        throw new Error("stood still");
      },
    });
    const connection = {
      ...opened.connection,
      nats: withManager(opened.connection.nats, { ...manager, streams: still }),
    };
    const late = async (): Promise<unknown> => {
      expect(held).not.to.equal(null);
      return await streams.update(stream(), held ?? {});
    };
    return { connection, late };
  };
  const streamsOfOthers = async (): Promise<readonly string[]> => {
    const found = await manager.streams.list(`${stream()}.cut.>`).next();
    return found.map(({ config: { name } }) => name).filter((name) => name !== stream());
  };

  it("loses nothing to a service that starts with another size of the log meanwhile", async () => {
    /** A connection of a process that does something else first, once, before such a change of the log. */
    const delayed = (isAt: (config: Partial<StreamConfig>) => boolean, first: () => Promise<void>) => {
      const { streams } = manager;
      let isDone = false;
      const slow = Object.assign(Object.create(streams) as typeof streams, {
        update: async (name: string, config: Partial<StreamConfig>) => {
          if (name === stream() && isAt(config) && !isDone) {
            isDone = true;
            await first();
          }
          return await streams.update(name, config);
        },
      });
      return { ...opened.connection, nats: withManager(opened.connection.nats, { ...manager, streams: slow }) };
    };
    let isLooking = true;
    let hasLooked = false;
    const starter = delayed(
      () => true,
      async () => {
        hasLooked = true;
        await eventually(() => expect(isLooking).to.equal(false));
      },
    );
    const starting = ensureStreams(starter, { prefix, replicas: 1, maxBytes: 50_000_000 });
    await eventually(() => expect(hasLooked).to.equal(true));
    const cutter = delayed(
      ({ discard }) => discard === DiscardPolicy.Old,
      async () => {
        isLooking = false;
        await starting;
        await happen(opened.log, newJob(), [jobCreated()]);
      },
    );
    expect(await failureOf(cutBeginning(cutter, prefix, [{ to: 3, count: 3 }]))).to.be.instanceOf(CutRefused);
    expect(await look()).to.deep.equal({ first: 1, messages: 11, limits: usual });
    expect((await manager.streams.info(stream())).config.max_bytes).to.equal(50_000_000);
  });

  const died = [
    ["after it shut the log", { max_msg_size: 1 }],
    ["after it set the limit", { max_msg_size: 1, max_msgs: 6, discard: DiscardPolicy.Old }],
  ] as const;
  const dies = async (limits: Partial<StreamConfig>): Promise<number> => {
    const { config } = await manager.streams.info(stream());
    await manager.streams.update(stream(), { ...config, ...limits });
    return (await look()).messages;
  };
  for (const [when, limits] of died) {
    it(`loses nothing where the process died ${when}, and takes nothing until another opens the log`, async () => {
      const messages = await dies(limits);
      expect(await failureOf(happen(opened.log, newJob(), [jobCreated()]))).to.be.instanceOf(Unavailable);
      expect((await look()).messages).to.equal(messages);
      await openShutLog(opened.connection, stream(), 0);
      await happen(opened.log, newJob(), [jobCreated()]);
      expect(await look()).to.deep.include({ messages: messages + 1, limits: usual });
    });
  }

  it("takes nothing where its limit arrives after another process has opened the log", async () => {
    const { connection, late } = standingStillAt(({ discard }) => discard === DiscardPolicy.Old);
    await failureOf(cutBeginning(connection, prefix, [{ to: 3, count: 3 }]));
    for (let job = 0; job < 5; job += 1) await happen(opened.log, newJob(), [jobCreated()]);
    expect(await failureOf(late())).to.match(/subjects overlap/);
    expect(await look()).to.deep.equal({ first: 1, messages: 15, limits: usual });
    await cutBeginning(opened.connection, prefix, [{ to: 3, count: 3 }]);
    expect(await look()).to.deep.equal({ first: 4, messages: 12, limits: usual });
  });

  it("is not disturbed by a process that opened the log before, and whose update arrives late", async () => {
    await takeLimits(manager, stream());
    const { connection, late } = standingStillAt(({ max_msg_size }) => max_msg_size === -1);
    await failureOf(openShutLog(connection, stream(), 0));
    await openShutLog(opened.connection, stream(), 0);
    await happen(opened.log, newJob(), [jobCreated()]);
    const limits = await takeLimits(manager, stream());
    expect(await failureOf(late())).to.match(/subjects overlap/);
    expect(await failureOf(happen(opened.log, newJob(), [jobCreated()]))).to.be.instanceOf(Unavailable);
    await limits.keepLast(8);
    await limits.open();
    expect(await look()).to.deep.equal({ first: 4, messages: 8, limits: usual });
  });

  it("is opened by one of many processes that find it shut, and leaves no stream behind but that of the dead one", async () => {
    await takeLimits(manager, stream());
    const died = await streamsOfOthers();
    expect(died).to.have.length(1);
    await Promise.all(Array.from({ length: 6 }, () => openShutLog(opened.connection, stream(), 0)));
    await happen(opened.log, newJob(), [jobCreated()]);
    expect(await look()).to.deep.equal({ first: 1, messages: 11, limits: usual });
    expect(await streamsOfOthers()).to.deep.equal(died);
  });

  it("loses nothing while others take the cutting process for dead all the time", async function () {
    this.timeout(60_000);
    let isOver = false;
    const stored: number[] = [];
    const writing = (async () => {
      while (!isOver) {
        await happen(opened.log, newJob(), [jobCreated()])
          .then((sequence) => stored.push(sequence))
          .catch((failure: unknown) => expect(failure).to.be.instanceOf(Unavailable));
      }
    })();
    const opening = Promise.all(
      Array.from({ length: 3 }, async () => {
        while (!isOver) {
          await openShutLog(opened.connection, stream(), 0);
          await pause(20);
        }
      }),
    );
    const failures: unknown[] = [];
    let to = 1;
    // Until they have met at least once.
    while ((to <= 9 || failures.length === 0) && to < 100 && failures.length < 20) {
      await cutBeginning(opened.connection, prefix, [{ to, count: 1 }]).catch((failure) => failures.push(failure));
      if ((await look()).first > to) to += 1;
    }
    isOver = true;
    await Promise.all([writing, opening]);
    const { first, messages } = await look();
    expect(first).to.be.at.most(to);
    expect(failures.filter((failure) => !(failure instanceof CutRefused))).to.deep.equal([]);
    expect(failures).not.to.deep.equal([]);
    const { last_seq: last } = (await manager.streams.info(stream())).state;
    expect(messages).to.equal(last - first + 1);
    expect(stored.at(-1)).to.equal(last);
  });

  it("is ended by the next start of a service, once the process that began it must be dead", async () => {
    const messages = await dies({ max_msg_size: 1 });
    await ensureStreams(opened.connection, { prefix, replicas: 1, maxBytes: null });
    expect(await look()).to.deep.equal({ first: 1, messages, limits: usual });
  });
});
