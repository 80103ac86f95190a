import { expect } from "chai";
import { usualRules } from "../../../src/domain/throttles/throttle.ts";
import { createJetStreamThrottleStore } from "../../../src/mail/throttles/jetstream-throttle-store.ts";
import {
  createReceivers,
  createReceiversOfRoutes,
  type SharedReceivers,
} from "../../../src/mail/throttles/receivers.ts";
import { recordThrottles } from "../../../src/mail/throttles/record-throttles.ts";
import { shareThrottles } from "../../../src/mail/throttles/share-throttles.ts";
import { createThrottleView } from "../../../src/mail/throttles/throttle-view.ts";
import type { PollLoop } from "../../../src/process/poll-loop.ts";
import { eventually } from "../../support/eventually.ts";
import { type OpenedLog, openJetStreamLog } from "../../support/jetstream-log.ts";
import { startNats, type TestNats } from "../../support/services.ts";

const error = { code: "deferred", message: "450 4.7.0 later", replyCode: 450, statusCode: "4.7.0" };

describe("throttles that workers share", function () {
  this.timeout(60_000);

  let nats: TestNats;
  let opened: OpenedLog;
  let at: number;
  let failures: unknown[];
  let sharing: PollLoop[];

  beforeEach(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    at = Date.now();
    [failures, sharing] = [[], []];
  });
  afterEach(async () => {
    await Promise.all(sharing.map((loop) => loop.stop()));
    await opened.close();
    await nats.cleanUp();
    expect(failures).to.deep.equal([]);
  });

  const now = (): number => at;
  const openStore = () => createJetStreamThrottleStore(opened.connection, { prefix: nats.prefix, replicas: 1 });
  /** A process that sends mails. */
  const startWorker = (): SharedReceivers => {
    const receivers = createReceivers({ connections: 4, workers: () => 1, most: 1000, now });
    const routes = createReceiversOfRoutes(() => receivers);
    routes.of("default");
    const stopping = new AbortController().signal;
    const loop = shareThrottles({
      store: openStore(),
      routes,
      records: recordThrottles({ log: opened.log, actor: "worker:test", stopping, now }),
      report: (failure) => failures.push(failure),
    });
    loop.start();
    sharing.push(loop);
    return receivers;
  };
  const refuse = (receivers: SharedReceivers): void => {
    for (let times = 0; times < 3; times += 1) receivers.heard("slow.example", { kind: "deferred", error });
  };
  const recorded = async (): Promise<readonly object[]> => {
    const { lastSequence } = await opened.log.state();
    if (lastSequence === 0) return [];
    const reading = new AbortController();
    const found: object[] = [];
    for await (const batch of opened.log.follow({ afterSequence: 0, maxEvents: 100, signal: reading.signal })) {
      for (const stored of batch) if ("event" in stored) found.push(stored.event);
      if ((batch.at(-1)?.sequence ?? 0) >= lastSequence) break;
    }
    reading.abort();
    return found;
  };

  it("are known to all, and to those that start later, and are recorded once when they last and once when they end", async () => {
    const [one, other] = [startWorker(), startWorker()];
    refuse(one);
    await eventually(() => expect(other.slows("slow.example")).to.equal(true));
    expect(await recorded(), "what may be over in a moment").to.deep.equal([]);

    at += 61_000;
    refuse(one);
    await eventually(async () => expect(await recorded()).to.have.lengthOf(1));
    const later = startWorker();
    await eventually(() => expect(later.slows("slow.example")).to.equal(true));
    const shown = await createThrottleView(openStore(), now)();
    expect(shown.map(({ route, receiver }) => `${route} ${receiver}`)).to.deep.equal(["default slow.example"]);

    at += usualRules.calmMs;
    // The one that mails it notices first; the others find it gone.
    expect(later.admit("slow.example")).to.equal(null);
    await eventually(async () => {
      expect(await recorded()).to.have.lengthOf(2);
      for (const receivers of [one, other, later]) expect(receivers.changes()).to.deep.equal([]);
    });
    const [begun, ended] = (await recorded()) as { type: string; data: object }[];
    expect(begun).to.deep.include({ type: "ReceiverThrottled" });
    expect(begun?.data).to.deep.include({ route: "default", receiver: "slow.example" });
    expect(ended).to.deep.include({ type: "ReceiverReleased" });
    expect(ended?.data).to.deep.equal({ route: "default", receiver: "slow.example", throttledForSeconds: 3661 });
    expect(await createThrottleView(openStore(), now)()).to.deep.equal([]);
  });
});
