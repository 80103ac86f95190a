import { join } from "node:path";
import { expect } from "chai";
import { trustNothing } from "../../src/seals/check.ts";
import { readSeal, type StoredSeal } from "../../src/seals/seal.ts";
import { readPublishedSeals } from "../../src/seals/seal-file.ts";
import type { SealObserver } from "../../src/seals/seal-observer.ts";
import type { SealerSetup } from "../../src/seals/sealer.ts";
import { verifyLog } from "../../src/seals/verify-log.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { spawnWaybill } from "../support/waybill.ts";
import { createMemoryObserver, openSealingSide, readAll, type SealingSide } from "./sealing.ts";

const everyEvents = 10;

describe("a sealer that is killed", () => {
  let nats: TestNats;
  let side: SealingSide;

  before(async () => {
    nats = await startNats();
  });
  after(() => nats.cleanUp());
  afterEach(() => side.close());

  const seals = async (): Promise<readonly StoredSeal[]> =>
    (await readAll(side.sealedLog.messages(0, "seals"))).map((message) => readSeal(message) as StoredSeal);
  const isOneChain = async (trust = trustNothing): Promise<readonly StoredSeal[]> => {
    const found = await seals();
    expect(found[0]?.from).to.equal(1);
    expect(found.slice(1).map(({ from }) => from)).to.deep.equal(found.slice(0, -1).map(({ to }) => to + 1));
    expect((await verifyLog(side.sealedLog, trust)).findings).to.deep.equal([]);
    return found;
  };

  it("before or after any of its steps is followed by another one that seals what it left, once", async () => {
    side = await openSealingSide(nats);
    const observer = createMemoryObserver();
    let steps = 0;
    for (let death = 1; steps >= death - 1; death += 1) {
      for (const when of ["before", "after"] as const) {
        await side.jobHappens(2 * everyEvents);
        const life = createLife(death, when);
        const dying = side.newSealer({ everyEvents, ...life.mortal(side, observer) });
        // The dead do nothing more, and do not even fail.
        await Promise.race([dying.sealWhatIsDue(), life.ended]);
        steps = life.steps();
        await side.newSealer({ everyEvents, observers: [observer] }).sealWhatIsDue();
        const found = await isOneChain();
        const { lastSequence } = await side.sealedLog.state();
        expect(lastSequence - (found.at(-1)?.to ?? 0), `death ${when} step ${death}`).to.be.lessThan(everyEvents + 1);
        expect(new Set(found.map(({ count }) => count))).to.deep.equal(new Set([everyEvents]));
        expect((await observer.last())?.sequence).to.equal(found.at(-1)?.sequence);
      }
    }
    // Of two ranges at least: to ask the observer, to append, to read back, to tell.
    expect(steps).to.be.greaterThan(8);
  }).timeout(60_000);

  it("with SIGKILL in the middle of sealing, and a rival with it, leaves one chain, which is published whole", async () => {
    side = await openSealingSide(nats);
    const database: TestDatabase = await freshDatabase();
    const file = join(await temporaryFolder(), "seals.ndjson");
    const surroundings = {
      nats: { config: nats.config, prefix: side.prefix },
      mysqlUrl: database.url,
      smtpUrl: "smtp://127.0.0.1:9",
    };
    const settings = { SEAL_EVERY_EVENTS: String(everyEvents), SEAL_FILE: file };
    const start = () => spawnWaybill(surroundings, "scheduler", settings);
    try {
      for (const wanted of [1, 2, 5]) {
        await side.jobHappens(20 * everyEvents);
        const sealing = nthSeal(side, wanted);
        const rivals = await Promise.all([start(), start()]);
        await sealing;
        await Promise.all(rivals.map((rival) => rival.kill()));
        await isOneChain();
      }
      await side.jobHappens(everyEvents);
      const last = await start();
      await eventually(async () => {
        const found = await seals();
        const { lastSequence } = await side.sealedLog.state();
        expect(lastSequence - (found.at(-1)?.to ?? 0)).to.be.lessThan(2 * everyEvents);
        expect((await readPublishedSeals(file)).size).to.equal(found.length);
      }, 30_000);
      await last.terminate();
      const found = await isOneChain({ keys: [], seals: await readPublishedSeals(file) });
      expect(found.length).to.be.greaterThan(40);
    } finally {
      await database.drop();
    }
  }).timeout(180_000);
});

/** Resolves as a seal is sent: around the time at which it is stored, and before its observers are informed. */
async function nthSeal({ connection, prefix }: SealingSide, wanted: number): Promise<void> {
  let count = 0;
  for await (const _ of connection.nats.subscribe(`${prefix}.jobs._service.log.seal`, { max: wanted })) {
    count += 1;
    if (count === wanted) return;
  }
}

/** Everything that a sealer does outside itself is a step; before or after one of them it does nothing any more. */
function createLife(death: number, when: "before" | "after") {
  let steps = 0;
  let die: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    die = resolve;
  });
  const never = new Promise<never>(() => {});

  const step = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    steps += 1;
    if (steps > death || (steps === death && when === "before")) {
      die();
      return await never;
    }
    const result = await work();
    if (steps < death) return result;
    die();
    return await never;
  };

  return {
    ended,
    steps: () => steps,
    mortal: (
      { log, sealedLog }: SealingSide,
      observer: SealObserver,
    ): Pick<SealerSetup, "log" | "sealedLog" | "observers"> => ({
      log: { ...log, append: (...asked) => step(() => log.append(...asked)) },
      sealedLog: {
        state: () => step(sealedLog.state),
        lastSeal: () => step(sealedLog.lastSeal),
        messageAt: (sequence) => step(() => sealedLog.messageAt(sequence)),
        sealAt: (sequence) => step(() => sealedLog.sealAt(sequence)),
        hasCopies: () => true,
        isPassed: (message) => step(() => sealedLog.isPassed(message)),
        // Read before it is handed out, so that no reader is left behind.
        messages: async function* (...asked) {
          yield await step(() => readAll(sealedLog.messages(...asked)));
        },
      },
      observers: [
        {
          name: observer.name,
          last: () => step(observer.last),
          remember: (seal) => step(() => observer.remember(seal)),
        },
      ],
    }),
  };
}
