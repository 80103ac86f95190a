import { expect } from "chai";
import { type AlertWatch, createAlertWatch } from "../../src/alerts/alert-watch.ts";
import type { AlertEvent, AlertName } from "../../src/domain/alerts/events.ts";
import type { Figures } from "../../src/domain/alerts/measure.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { alertLimits, fineFigures } from "../support/alert-limits.ts";
import { eventually } from "../support/eventually.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";

const failing: Figures = {
  ...fineFigures,
  ended: { sent: 500, failed: 500, unknown: 0, bounced: 0, complained: 0, deadLetters: 0 },
};
const failingAndWaiting: Figures = { ...failing, oldestWaiting: { seconds: 400, of: "high" } };

describe("Instances that watch the service", () => {
  let nats: OwnNats;
  let opened: OpenedLog;
  let found: Figures;
  let decided: AlertEvent[];
  let reported: unknown[];
  let watches: {
    readonly watch: AlertWatch;
    readonly looks: () => number;
    readonly raised: () => readonly AlertName[];
  }[];

  before(async () => {
    nats = await startOwnNats();
  });
  after(() => nats.cleanUp());
  beforeEach(async () => {
    opened = await openJetStreamLog(nats.config, `${nats.prefix}${Math.random().toString(36).slice(2, 8)}`);
    found = fineFigures;
    decided = [];
    reported = [];
    watches = [];
  });
  afterEach(async () => {
    await stopAll();
    await opened.close();
  });

  const start = (read = async () => found): void => {
    let looks = 0;
    let raised: ReadonlySet<AlertName> = new Set();
    const watch = createAlertWatch(
      {
        log: opened.log,
        figures: { read },
        limits: alertLimits,
        lookEveryMs: 10,
        decided: (event) => decided.push(event),
        seen: (seen) => {
          looks += 1;
          raised = seen;
        },
      },
      (failure) => reported.push(failure),
    );
    watches.push({ watch, looks: () => looks, raised: () => [...raised] });
    watch.start();
  };
  const stopAll = async (): Promise<void> => {
    await Promise.all(watches.splice(0).map(({ watch }) => watch.stop()));
  };
  /** Every one of them has looked so many times more. */
  const looked = async (times: number): Promise<void> => {
    const before = watches.map(({ looks }) => looks());
    await eventually(() => {
      for (const [index, { looks }] of watches.entries()) expect(looks()).to.be.at.least((before[index] ?? 0) + times);
    });
  };
  const recorded = async (): Promise<readonly string[]> =>
    (await opened.log.readAlerts()).flatMap((entry) =>
      "event" in entry ? [`${entry.event.type} ${entry.event.data.alert}`] : [],
    );

  it("raise an alert once and clear it once, however many they are", async () => {
    for (let count = 0; count < 5; count += 1) start();
    await looked(3);
    expect(await recorded()).to.deep.equal([]);
    found = failing;
    await looked(10);
    expect(await recorded()).to.deep.equal(["AlertRaised failure-rate"]);
    for (const { raised } of watches) expect(raised()).to.deep.equal(["failure-rate"]);
    found = fineFigures;
    await looked(10);
    expect(await recorded()).to.deep.equal(["AlertRaised failure-rate", "AlertCleared failure-rate"]);
    expect(decided.map(({ type }) => type)).to.deep.equal(["AlertRaised", "AlertCleared"]);
    expect(reported).to.deep.equal([]);
  });

  it("read what was recorded once, however often they look", async () => {
    const read: number[] = [];
    const { log } = opened;
    const readAlerts: EventLog["readAlerts"] = async (from) => {
      const entries = await log.readAlerts(from);
      read.push(entries.length);
      return entries;
    };
    opened = { ...opened, log: { ...log, readAlerts } };
    start();
    found = failing;
    await looked(3);
    found = fineFigures;
    await looked(5);
    expect(await recorded()).to.have.lengthOf(2);
    read.length = 0;
    // The first of these looks may have read before.
    await looked(4);
    expect(read.slice(0, 3)).to.deep.equal([1, 1, 1]);
  });

  it("record both of two alerts that are raised at the same moment", async () => {
    for (let count = 0; count < 3; count += 1) start();
    found = failingAndWaiting;
    await looked(10);
    expect([...(await recorded())].sort()).to.deep.equal(["AlertRaised failure-rate", "AlertRaised oldest-waiting"]);
    expect(reported).to.deep.equal([]);
  });

  it("do not clear an alert by figures from before it was raised, or by what they saw before", async () => {
    let reads = 0;
    let goOn = (): void => {};
    const stands = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    start(async () => {
      const seen = found;
      reads += 1;
      if (reads === 6) await stands;
      return seen;
    });
    await eventually(() => expect(reads).to.equal(6));
    found = failing;
    start();
    await eventually(async () => expect(await recorded()).to.deep.equal(["AlertRaised failure-rate"]));
    goOn();
    await looked(3);
    expect(await recorded()).to.deep.equal(["AlertRaised failure-rate"]);
    expect(reported).to.deep.equal([]);
  });

  it("do not repeat after a restart what was recorded before", async () => {
    start();
    found = failing;
    await looked(5);
    await stopAll();
    start();
    await looked(5);
    expect(await recorded()).to.deep.equal(["AlertRaised failure-rate"]);
    found = fineFigures;
    await looked(5);
    await stopAll();
    start();
    await looked(5);
    expect(await recorded()).to.deep.equal(["AlertRaised failure-rate", "AlertCleared failure-rate"]);
    const [raised, cleared] = await opened.log.readAlerts();
    expect(cleared).to.deep.include({ causationId: raised && "id" in raised ? raised.id : null, actor: "alerts" });
  });

  it("go on once the log is there again", async () => {
    start();
    await looked(2);
    await nats.stop();
    found = failing;
    await eventually(() => expect(reported).to.not.be.empty);
    await nats.start();
    await eventually(async () => expect(await recorded()).to.deep.equal(["AlertRaised failure-rate"]));
  });
});
