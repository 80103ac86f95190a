import { expect } from "chai";
import type { ContentStore } from "../../src/content/content-store.ts";
import { decodeContent, encodeContent } from "../../src/content/encode-content.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { ErasurePorts } from "../../src/erasure/complete-erasure.ts";
import { eraseLeftover } from "../../src/erasure/erase-leftovers.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { LogFull } from "../../src/event-log/log-failures.ts";
import { createImporter } from "../../src/mailings/import-recipients.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { emptySuppressions } from "../support/empty-suppressions.ts";
import { now } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { newJob } from "../support/happen.ts";
import {
  cause,
  decide,
  draftMailing,
  fileOf,
  importerOf,
  importInto,
  people,
  type Stored,
  stateOf,
} from "../support/mailings.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";

describe("recipients of a mailing", () => {
  let stored: Stored;
  let mailing: JobRef;
  beforeEach(async () => {
    stored = { log: createMemoryEventLog(), contentStore: createMemoryContentStore() };
    mailing = await draftMailing(stored);
  });

  const contentOf = async (jobId: string) => {
    const content = await stored.contentStore.get({ ...mailing, jobId });
    return content === null ? null : decodeContent(content);
  };
  const addresses = async () => {
    const { parts } = await stateOf(stored, mailing);
    const contents = await Promise.all(parts.map(({ jobId }) => contentOf(jobId)));
    return contents.flatMap((content) => content?.recipients.map((one) => one?.email) ?? []);
  };
  const erasing = (): ErasurePorts => ({
    ...stored,
    results: createMemoryResultStore(),
    outbox: emptyOutbox,
    suppressions: emptySuppressions,
  });
  const sweep = (job: JobRef) =>
    eraseLeftover(erasing(), { job, attachment: null }, { reason: "a test", cause, at: now });

  it("are in parts of a thousand, each with the letter, as the log names them", async () => {
    expect(await importInto(stored, mailing, people(2500))).to.include({ added: 2500, duplicates: 0 });
    const { parts } = await stateOf(stored, mailing);
    expect(parts.map(({ recipients }) => recipients)).to.deep.equal([1000, 1000, 500]);
    expect(await contentOf(parts[2]?.jobId ?? "")).to.include({ subject: "Hello", mailingId: mailing.jobId });
    expect(await addresses()).to.deep.equal(people(2500));
  });

  it("are added once, however their lines are spread over files, and in whatever case", async () => {
    await importInto(stored, mailing, people(1200));
    const counts = await importInto(stored, mailing, ["PERSON7@example.com", ...people(300, 1000), "no address"]);
    expect(counts).to.deep.include({ lines: 302, added: 100, duplicates: 201, faulty: 1 });
    expect(counts.faults).to.deep.equal([
      { line: 302, message: 'email is "no address"; expected an e-mail address such as ada@example.com' },
    ]);
    expect((await addresses()).length).to.equal(1300);
  });

  it("are refused by one of two imports at the same time, in one process or in two", async () => {
    const importer = importerOf(stored);
    const here = await Promise.all([
      importer.import(mailing, fileOf(people(50)), cause),
      importer.import(mailing, fileOf(people(50, 50)), cause),
    ]);
    expect(here.map(({ outcome }) => outcome)).to.deep.equal(["imported", "conflict"]);
    const apart = await Promise.all([
      importerOf(stored).import(mailing, fileOf(people(5000, 100)), cause),
      importerOf(stored).import(mailing, fileOf(people(5000, 4000)), cause),
    ]);
    expect(apart.map(({ outcome }) => outcome)).to.have.members(["imported", "conflict"]);
    const before = await addresses();
    expect(new Set(before).size).to.equal(before.length);
    await importInto(stored, mailing, people(9000));
    expect((await addresses()).sort()).to.deep.equal([...people(9000)].sort());
  });

  it("are added once where another import goes ahead while the answer about the first parts is lost", async () => {
    const { log } = stored;
    let isLost = false;
    const losing: EventLog = {
      ...log,
      append: async (job, entry, expected) => {
        const sequence = await log.append(job, entry, expected);
        if (isLost || entry[0].event.type !== "MailingPartsAdded") return sequence;
        isLost = true;
        await importInto(stored, mailing, people(300, 8500));
        throw new Unavailable("The answer is lost.");
      },
    };
    const { outcome } = await importerOf({ ...stored, log: losing }).import(mailing, fileOf(people(9000)), cause);
    expect(outcome).to.equal("conflict");
    // The eight parts that it added before are whole.
    expect((await addresses()).sort()).to.deep.equal([...people(8000), ...people(300, 8500)].sort());
  });

  it("are not read again for each file of a process, though another process adds some in between", async () => {
    let reads = 0;
    const counted: ContentStore = {
      ...stored.contentStore,
      get: (job) => {
        reads += 1;
        return stored.contentStore.get(job);
      },
    };
    const importer = importerOf({ ...stored, contentStore: counted });
    const readsOf = async (addresses: readonly string[]): Promise<number> => {
      const before = reads;
      expect((await importer.import(mailing, fileOf(addresses), cause)).outcome).to.equal("imported");
      return reads - before;
    };
    const letter = 1;
    for (const page of [0, 1, 2]) expect(await readsOf(people(100, page * 100))).to.equal(letter);
    await importInto(stored, mailing, people(100, 300));
    expect(await readsOf(people(250, 200))).to.equal(letter + 1);
    expect((await addresses()).sort()).to.deep.equal([...people(450)].sort());
  });

  it("count as added only once they are, where a file breaks off and comes again", async () => {
    const importer = importerOf(stored);
    await importer.import(mailing, fileOf(people(100)), cause);
    const { type, chunks } = fileOf(people(1500, 100));
    const broken = (async function* () {
      yield* chunks;
      throw new Error("The client went away.");
    })();
    await failureOf(importer.import(mailing, { type, chunks: broken }, cause));
    expect((await importer.import(mailing, fileOf(people(1500, 100)), cause)).outcome).to.equal("imported");
    expect((await addresses()).sort()).to.deep.equal([...people(1600)].sort());
  });

  describe("leave nothing behind that no mailing names, where", () => {
    let kept: Set<string>;
    let contentStore: ContentStore;
    beforeEach(() => {
      kept = new Set();
      const { put, erase } = stored.contentStore;
      contentStore = {
        ...stored.contentStore,
        put: async (job, content) => {
          kept.add(job.jobId);
          return await put(job, content);
        },
        erase: async (job) => {
          kept.delete(job.jobId);
          await erase(job);
        },
      };
    });
    const partIds = async () => (await stateOf(stored, mailing)).parts.map(({ jobId }) => jobId).sort();

    it("a file breaks off", async () => {
      const { type, chunks } = fileOf(people(9500));
      const broken = (async function* () {
        yield* chunks;
        throw new Error("The client went away.");
      })();
      const importing = importerOf({ ...stored, contentStore }).import(mailing, { type, chunks: broken }, cause);
      expect(await failureOf(importing)).to.have.property("message", "The client went away.");
      expect(await partIds()).to.have.lengthOf(8);
      expect([...kept].sort()).to.deep.equal(await partIds());
    });

    for (const [when, looks] of [
      ["before it", 0],
      ["in the midst of it", 2],
    ] as const) {
      it(`the log is full ${when}`, async () => {
        let asked = 0;
        const room = {
          isLeftForJobs: async () => {
            asked += 1;
            return asked <= looks;
          },
        };
        const importer = createImporter({ ...stored, contentStore, room, now: () => now });
        expect(await failureOf(importer.import(mailing, fileOf(people(17_500)), cause))).to.be.instanceOf(LogFull);
        expect(await partIds()).to.have.lengthOf(looks === 0 ? 0 : 8);
        expect([...kept].sort()).to.deep.equal(await partIds());
      });
    }
  });

  it("wait where a tenant reads two files in a process, while another tenant's are read", async () => {
    const importer = importerOf(stored);
    const mailings = [mailing, await draftMailing(stored), await draftMailing(stored)];
    const ends: string[] = [];
    const open = unfinishedFile();
    const importing = [open.file(), open.file(), fileOf(people(50))].map(async (file, index) => {
      const { outcome } = await importer.import(mailings[index] as JobRef, file, cause);
      ends.push(`${index} ${outcome}`);
    });
    const others = await importer.import(await draftMailing(stored, "acme"), fileOf(people(50)), cause);
    expect(others.outcome).to.equal("imported");
    expect(ends).to.deep.equal([]);
    open.end();
    await Promise.all(importing);
    expect(ends).to.have.members(["0 imported", "1 imported", "2 imported"]);
  });

  it("are refused for now where none of these ends soon, and are taken again then", async () => {
    const importer = importerOf(stored, 20);
    const last = await draftMailing(stored);
    const open = unfinishedFile();
    const importing = [mailing, await draftMailing(stored)].map((one) => importer.import(one, open.file(), cause));
    expect((await importer.import(last, fileOf(people(50)), cause)).outcome).to.equal("busy");
    open.end();
    await Promise.all(importing);
    expect((await importer.import(last, fileOf(people(50)), cause)).outcome).to.equal("imported");
  });

  it("are taken of a third tenant soon, though the clients of two others keep all places waiting", async () => {
    const importer = importerOf(stored);
    const open = unfinishedFile();
    const slow = [mailing, await draftMailing(stored), await draftMailing(stored, "acme")];
    const importing = slow.map((one) => importer.import(one, open.file(), cause));
    const third = await draftMailing(stored, "zeta");
    expect((await importer.import(third, fileOf(people(50)), cause)).outcome).to.equal("imported");
    open.end();
    for (const { outcome } of await Promise.all(importing)) expect(outcome).to.equal("imported");
  }).timeout(10_000);

  it("that were stored and never added are erased, those of a mailing are not", async () => {
    await importInto(stored, mailing, people(10));
    const [part] = (await stateOf(stored, mailing)).parts;
    const letter = await stored.contentStore.get(mailing);
    if (part === undefined || letter === null) throw new Error("Nothing was stored.");
    const orphan = newJob();
    const content = { ...decodeContent(letter), mailingId: mailing.jobId, recipients: [{ email: "eve@example.com" }] };
    await stored.contentStore.put(orphan, encodeContent(content));

    expect(await sweep({ ...mailing, jobId: part.jobId })).to.equal(null);
    expect(await sweep(mailing)).to.equal(null);
    expect(await contentOf(part.jobId)).not.to.equal(null);
    expect(await sweep(orphan)).to.be.a("number");
    expect(await contentOf(orphan.jobId)).to.equal(null);
    // An import that was about to add what was erased finds a decision that it does not know.
    expect((await stored.log.readMailing(mailing)).at(-1)?.event.type).to.equal("MailingPartAbandoned");

    await decide(stored, mailing, { type: "CancelMailing", at: now, reason: null });
    expect(await sweep({ ...mailing, jobId: part.jobId })).to.be.a("number");
    expect(await contentOf(part.jobId)).to.equal(null);
  });

  it("are refused where the mailing was started before a line that is not UTF-8", async () => {
    await importInto(stored, mailing, people(1));
    const chunks = (async function* () {
      yield Buffer.from('"late@example.com"\n');
      await decide(stored, mailing, { type: "StartMailing", at: now, scheduledAt: null });
      yield Buffer.from([0x22, 0xfc, 0x22, 0x0a]);
    })();
    const outcome = await importerOf(stored).import(mailing, { type: "application/x-ndjson", chunks }, cause);
    expect(outcome).to.have.nested.include({ outcome: "rejected", "rejection.code": "mailing-has-started" });
  });

  it("have no letter of a mailing that was never created", async () => {
    const letter = await stored.contentStore.get(mailing);
    const never = newJob();
    await stored.contentStore.put(never, letter ?? Buffer.from(""));
    expect(await sweep(never)).to.be.a("number");
    expect(await stored.contentStore.get(never)).to.equal(null);
  });
});

/** The files of a client that sends their ends only once `end` is called. */
function unfinishedFile() {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const file = () => {
    const { type, chunks } = fileOf(people(50));
    const held = (async function* () {
      yield* chunks;
      await ended;
    })();
    return { type, chunks: held };
  };
  return { file, end: () => end() };
}
