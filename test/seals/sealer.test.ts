import { expect } from "chai";
import { examineMessage, recordPass } from "../../src/event-log/jetstream-odd-messages.ts";
import { UndecodableEvent } from "../../src/event-log/log-failures.ts";
import type { LogMessage } from "../../src/event-log/log-message.ts";
import { trustNothing } from "../../src/seals/check.ts";
import { coveringSeals } from "../../src/seals/evidence.ts";
import { digestOfSeal, faultOfSeal, readSeal, type StoredSeal } from "../../src/seals/seal.ts";
import { LogRolledBack } from "../../src/seals/seal-observer.ts";
import type { SealedLog } from "../../src/seals/sealed-log.ts";
import { ReadingsDiffer } from "../../src/seals/sealer.ts";
import { verifyLog } from "../../src/seals/verify-log.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";
import { createMemoryObserver, openSealingSide, readAll, type SealingSide } from "./sealing.ts";

/** As from a copy in which one message is not the one that the leader has. */
async function* withAnotherBody(batches: AsyncIterable<readonly LogMessage[]>): AsyncGenerator<readonly LogMessage[]> {
  for await (const batch of batches) {
    yield batch.map((message) => (message.sequence === 4 ? { ...message, body: Buffer.from("[]") } : message));
  }
}

describe("The sealer", () => {
  let nats: OwnNats;
  let side: SealingSide;

  before(async () => {
    nats = await startOwnNats();
  });
  after(() => nats.cleanUp());
  beforeEach(async () => {
    side = await openSealingSide(nats);
  });
  afterEach(() => side.close());

  const seals = async (): Promise<readonly StoredSeal[]> =>
    (await readAll(side.sealedLog.messages(0, "seals"))).map((message) => readSeal(message) as StoredSeal);
  const sealed = async () =>
    (await readAll(side.sealedLog.messages(0, "seals"))).flatMap((message) => {
      const seal = readSeal(message);
      return seal === null ? [] : [[seal.from, seal.to]];
    });
  const ranges = async () => (await seals()).map(({ from, to, count }) => [from, to, count]);
  const isWhole = async (): Promise<void> => {
    expect((await verifyLog(side.sealedLog, trustNothing)).findings).to.deep.equal([]);
  };

  it("seals a log that was there before in ranges of the configured number of events, one after the other", async () => {
    for (let job = 0; job < 5; job += 1) await side.jobHappens();
    await side.newSealer().sealWhatIsDue();
    expect(await ranges()).to.deep.equal([
      [1, 10, 10],
      [11, 20, 10],
    ]);
    const [first, second] = (await seals()) as [StoredSeal, StoredSeal];
    expect(first.previous).to.equal(null);
    expect(second.previous).to.equal(digestOfSeal(first));
    expect([first, second].map(faultOfSeal)).to.deep.equal([null, null]);
    expect(first.keyId).to.equal(side.key.keyId);
    await isWhole();
  });

  it("makes no consumer to look at a log that has not grown", async () => {
    const sealer = side.newSealer();
    await side.jobHappens();
    await sealer.sealWhatIsDue();
    let consumers = 0;
    const { nats: client } = side.connection;
    client.subscribe("$JS.EVENT.ADVISORY.API", {
      callback: (_, message) => {
        const { subject } = message.json<{ readonly subject: string }>();
        if (subject.startsWith("$JS.API.CONSUMER.CREATE.")) consumers += 1;
      },
    });
    for (let looks = 0; looks < 3; looks += 1) await sealer.sealWhatIsDue();
    await client.flush();
    expect(consumers).to.equal(0);
    await side.jobHappens();
    await sealer.sealWhatIsDue();
    await client.flush();
    expect(consumers).to.equal(1);
  });

  it("goes on where it stopped, and seals the seals with what comes after them", async () => {
    const sealer = side.newSealer();
    await side.jobHappens();
    await sealer.sealWhatIsDue();
    expect(await ranges()).to.deep.equal([]);
    await side.jobHappens();
    await sealer.sealWhatIsDue();
    await side.jobHappens(6);
    await sealer.sealWhatIsDue();
    expect(await ranges()).to.deep.equal([
      [1, 10, 10],
      [11, 20, 10],
    ]);
    expect((await seals()).map(({ sequence }) => sequence)).to.deep.equal([11, 22]);
    await isWhole();
  });

  it("seals nothing of which a copy of the log told something else, and reads it again", async () => {
    for (let job = 0; job < 3; job += 1) await side.jobHappens();
    let readings = 0;
    const sealedLog: SealedLog = {
      ...side.sealedLog,
      hasCopies: () => true,
      messages: (after, which) => {
        readings += which === "all" ? 1 : 0;
        const messages = side.sealedLog.messages(after, which);
        return readings === 1 ? withAnotherBody(messages) : messages;
      },
    };
    const sealer = side.newSealer({ sealedLog });
    expect(await failureOf(sealer.sealWhatIsDue())).to.be.instanceOf(ReadingsDiffer);
    expect(await ranges()).to.deep.equal([]);
    await sealer.sealWhatIsDue();
    expect(await ranges()).to.deep.equal([[1, 10, 10]]);
    await isWhole();
  });

  it("seals nothing that a server has lost since it was read, and reads the log again", async () => {
    let isLost = false;
    const messageAt: SealedLog["messageAt"] = async (sequence) =>
      isLost ? null : await side.sealedLog.messageAt(sequence);
    const sealer = side.newSealer({ sealedLog: { ...side.sealedLog, messageAt } });
    await side.jobHappens();
    await sealer.sealWhatIsDue();
    isLost = true;
    expect(await failureOf(sealer.sealNow())).to.be.instanceOf(ReadingsDiffer);
    expect(await ranges()).to.deep.equal([]);
    isLost = false;
    await sealer.sealNow();
    expect(await ranges()).to.deep.equal([[1, 5, 5]]);
    await isWhole();
  });

  it("goes on after a message on its own subject that is no seal, once that was passed by", async () => {
    const sealer = side.newSealer({ everyMs: 0 });
    await side.jobHappens();
    await sealer.sealWhatIsDue();
    const { seq } = await side.connection.nats.jetstream().publish(`${side.prefix}.jobs._service.log.seal`, "hello");
    await side.jobHappens();
    expect(await failureOf(sealer.sealWhatIsDue())).to.be.instanceOf(UndecodableEvent);
    const { subject = "", sha256 = "" } = (await examineMessage(side.connection, side.prefix, seq)) ?? {};
    const decision = { sequence: seq, subject, sha256, fault: "no JSON", reason: "planted", actor: "cli:test" };
    await recordPass(side.connection, side.prefix, side.log, { ...decision, at: new Date().toISOString() });
    await sealer.sealWhatIsDue();
    expect(await sealed()).to.deep.equal([
      [1, 5],
      [6, 13],
    ]);
    await side.newSealer({ everyMs: 0 }).sealWhatIsDue();
    for await (const { from, to } of coveringSeals(side.sealedLog, [6])) expect([from, to]).to.deep.equal([6, 13]);
    await isWhole();
  });

  it("seals what has waited long enough, however little it is, and no seal for its own sake", async () => {
    const sealer = side.newSealer({ everyMs: 0 });
    await sealer.sealWhatIsDue();
    expect(await ranges()).to.deep.equal([]);
    await side.jobHappens();
    await sealer.sealWhatIsDue();
    for (const again of [sealer, sealer, side.newSealer({ everyMs: 0 })]) {
      await again.sealWhatIsDue();
      await again.sealNow();
    }
    expect(await ranges()).to.deep.equal([[1, 5, 5]]);
    await isWhole();
  });

  it("seals everything at once when it is asked to", async () => {
    await side.jobHappens();
    await side.newSealer().sealNow();
    expect(await ranges()).to.deep.equal([[1, 5, 5]]);
  });

  it("is one, however many try: ranges neither overlap nor leave anything out", async () => {
    const sealers = [1, 2, 3, 4].map(() => side.newSealer({ everyEvents: 7 }));
    const appending = (async () => {
      for (let job = 0; job < 20; job += 1) await side.jobHappens();
    })();
    for (let round = 0; round < 8; round += 1) {
      await Promise.all(sealers.map((sealer) => (round % 3 === 2 ? sealer.sealNow() : sealer.sealWhatIsDue())));
    }
    await appending;
    await Promise.all(sealers.map((sealer) => sealer.sealNow()));
    const found = await seals();
    expect(found.length).to.be.greaterThan(10);
    expect(found.slice(1).map(({ from }) => from)).to.deep.equal(found.slice(0, -1).map(({ to }) => to + 1));
    await isWhole();
  });

  it("that dies between sealing and saying so is followed by one that says it", async () => {
    const dying = { ...createMemoryObserver(), remember: () => Promise.reject(new Error("killed")) };
    await side.jobHappens();
    await side.newSealer({ observers: [dying], report: () => {} }).sealNow();
    const observer = createMemoryObserver();
    await side.newSealer({ observers: [observer] }).sealWhatIsDue();
    const [seal] = (await seals()) as [StoredSeal];
    expect(await observer.last()).to.deep.equal({ sequence: seal.sequence, digest: digestOfSeal(seal) });
  });

  it("goes on after NATS was killed under it", async () => {
    const sealer = side.newSealer();
    await side.jobHappens(20);
    await nats.stop();
    await failureOf(sealer.sealWhatIsDue());
    await nats.start();
    await eventually(async () => {
      await sealer.sealWhatIsDue();
      expect((await ranges())[0]).to.deep.equal([1, 10, 10]);
    });
    await isWhole();
  });

  it("seals no log that lacks a seal which was seen in it, and says so each time", async () => {
    const observer = createMemoryObserver();
    await side.jobHappens();
    await side.newSealer({ observers: [observer] }).sealNow();
    const other = await openSealingSide(nats);
    try {
      await other.jobHappens();
      const sealer = other.newSealer({ observers: [observer] });
      for (const _ of [1, 2]) {
        const failure = await failureOf(sealer.sealNow());
        expect(failure).to.be.instanceOf(LogRolledBack);
        expect(failure.message).to.include("the test remembers a seal at 6, where the log has none");
      }
      expect(await other.sealedLog.lastSeal()).to.equal(null);
      await other.newSealer().sealNow();
      const rewritten = await failureOf(sealer.sealWhatIsDue());
      expect(rewritten.message).to.include("where the log has another one");
    } finally {
      await other.close();
    }
  });

  it("takes no log for one that was put back whose new leader has not applied its end yet", async () => {
    const observer = createMemoryObserver();
    await side.jobHappens();
    await side.newSealer({ observers: [observer] }).sealNow();
    let asked = 0;
    const sealAt: SealedLog["sealAt"] = async (sequence) => {
      asked += 1;
      return asked <= 2 ? null : await side.sealedLog.sealAt(sequence);
    };
    await side.jobHappens();
    const sealedLog = { ...side.sealedLog, sealAt, hasCopies: () => true };
    await side.newSealer({ observers: [observer], sealedLog }).sealNow();
    expect((await ranges()).map(([from, to]) => [from, to])).to.deep.equal([
      [1, 5],
      [6, 11],
    ]);
  });

  it("goes on sealing while an observer is down", async () => {
    const reported: unknown[] = [];
    const away = {
      name: "away",
      last: () => Promise.reject(new Error("away")),
      remember: () => Promise.reject(new Error("away")),
    };
    await side.jobHappens();
    await side.newSealer({ observers: [away], report: (failure) => reported.push(failure) }).sealNow();
    expect(await ranges()).to.deep.equal([[1, 5, 5]]);
    expect(reported.length).to.be.greaterThan(0);
  });
});
