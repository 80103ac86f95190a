import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { AckPolicy } from "nats";
import type { ArchivedFile } from "../../src/archive/archive-format.ts";
import type { ArchiveIndex } from "../../src/archive/archive-index.ts";
import { withArchive } from "../../src/archive/archived-log.ts";
import { withArchivedMessages } from "../../src/archive/archived-messages.ts";
import { ArchiveRefused } from "../../src/archive/find-boundary.ts";
import { createRecordedFiles } from "../../src/archive/recorded-files.ts";
import type { StoredLog } from "../../src/archive/stored-log.ts";
import { findInBucket } from "../../src/cli/check-archive.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { createJetStreamEventLog } from "../../src/event-log/jetstream-event-log.ts";
import { Archived, VersionConflict } from "../../src/event-log/log-failures.ts";
import type { LogMessage } from "../../src/event-log/log-message.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { trustNothing } from "../../src/seals/check.ts";
import { readSeal, type StoredSeal } from "../../src/seals/seal.ts";
import type { SealedLog } from "../../src/seals/sealed-log.ts";
import { verifyLog } from "../../src/seals/verify-log.ts";
import { readAll } from "../seals/sealing.ts";
import { alteredLog } from "../support/altered-log.ts";
import { eventually } from "../support/eventually.ts";
import {
  caused,
  deadLetterIgnored,
  jobCompleted,
  jobContentErased,
  jobCreated,
  jobFailed,
  jobPaused,
  jobRetried,
  jobStarted,
  recipientSent,
  recipientsClaimed,
} from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { happen, newJob } from "../support/happen.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { type ArchivingSide, openArchivingSide } from "./archiving.ts";

describe("Archiving the log", () => {
  let nats: TestNats;
  let side: ArchivingSide;
  let jobs: JobRef[];

  before(async () => {
    nats = await startNats();
  });
  after(() => nats.cleanUp());
  beforeEach(async () => {
    side = await openArchivingSide(nats);
    jobs = [];
    for (let job = 0; job < 10; job += 1) jobs.push(await side.jobHappens(2));
  });
  afterEach(() => side.close());

  const firstInStream = () => side.ports.storedLog.firstSequence();
  const theJob = (at: number): JobRef => jobs[at] as JobRef;

  it("takes ended jobs out of the log, into files that end with a seal", async () => {
    const { files, cutTo, heldBack } = await side.archive();
    expect(heldBack).to.deep.equal([]);
    expect(files.map(({ number, from }) => ({ number, from }))).to.deep.include({ number: 1, from: 1 });
    expect(files.at(-1)?.to).to.equal(cutTo);
    expect(await firstInStream()).to.equal(cutTo + 1);
    expect(cutTo).to.be.greaterThan(50);
    expect(await side.index.files()).to.deep.equal(files);
  });

  it("leaves a history that is the same as before, with the files, and none but a refusal without them", async () => {
    const before = await side.log.readHistory(theJob(0));
    await side.archive();
    expect(await side.log.readHistory(theJob(0))).to.deep.equal([]);
    expect(await side.reading(side.directory).log.readHistory(theJob(0))).to.deep.equal(before);
    const failure = await failureOf(side.reading(null).log.readHistory(theJob(0)));
    expect(failure).to.be.instanceOf(Archived);
    expect((failure as Archived).file).to.match(/^log-0{11}1-\d{12}\.waybill$/);
    expect(await side.reading(null).log.readHistory(newJob())).to.deep.equal([]);
  });

  it("leaves the whole history of a job of which the cut takes the first half", async () => {
    const job = newJob();
    const claimed = recipientsClaimed({ recipients: [0, 1] });
    const first = [jobCreated({ total: 2 }), jobStarted(), claimed, recipientSent({ recipient: 0 })];
    await happen(side.log, job, first);
    await side.newSealer().sealNow();
    const before = new Date();
    await pause(5);
    await happen(side.log, job, [recipientSent({ recipient: 1 }), jobCompleted()]);
    const whole = await side.log.readHistory(job);
    await side.archive({ before });
    expect((await side.log.readHistory(job)).map(({ event }) => event.type)).to.deep.equal([
      "RecipientSent",
      "JobCompleted",
    ]);
    expect(await side.reading(side.directory).log.readHistory(job)).to.deep.equal(whole);
  });

  it("lets a sealer go on that was not the first to seal, and needs no file for that", async () => {
    await side.archive();
    for (let job = 0; job < 6; job += 1) await side.jobHappens();
    // Now the files hold seals, too.
    await side.archive();
    const slower = side.newSealer({ log: side.reading(null).log });
    await side.jobHappens();
    await slower.sealWhatIsDue();
    await side.newSealer().sealNow();
    await side.jobHappens();
    await slower.sealNow();
    expect((await verifyLog(side.reading(side.directory).sealedLog, trustNothing)).findings).to.deep.equal([]);
  });

  it("finds a seal that was cut off since a place outside has seen it", async () => {
    await side.newSealer().sealNow();
    const [first] = await readAll(side.sealedLog.messages(0, "seals"));
    const seen = readSeal(first as LogMessage) as StoredSeal;
    for (let job = 0; job < 6; job += 1) await side.jobHappens();
    await side.archive();
    const { sealedLog } = side.reading(side.directory);
    expect(await side.sealedLog.sealAt(seen.sequence)).to.equal(null);
    expect(await sealedLog.sealAt(seen.sequence)).to.deep.equal(seen);
    expect(await sealedLog.sealAt(seen.sequence - 1)).to.equal(null);
    expect(await failureOf(side.reading(null).sealedLog.sealAt(seen.sequence))).to.be.instanceOf(Archived);
  });

  it("leaves one log to verify, of files and stream", async () => {
    await side.newSealer().sealNow();
    const before = await verifyLog(side.sealedLog, trustNothing);
    const { cutTo } = await side.archive();
    const { findings, messages, lastSequence } = await verifyLog(side.reading(side.directory).sealedLog, trustNothing);
    expect(findings).to.deep.equal([]);
    expect(messages).to.equal(lastSequence);
    expect(messages).to.be.greaterThan(before.messages);
    const without = await verifyLog(side.sealedLog, trustNothing);
    expect(without.messages).to.equal(lastSequence - cutTo);
    expect(without.findings).not.to.deep.equal([]);
  });

  it("leaves a list of files from which none can be taken unnoticed: verify names the file", async () => {
    await side.archive();
    const recorded = createRecordedFiles(side.prefix);
    const files = await side.index.files();
    const [gone] = files.slice(1);
    const { archive, sealedLog } = side.reading(side.directory);
    await verifyLog({ messages: (...asked) => recorded.noting(sealedLog.messages(...asked)) }, trustNothing);
    expect(await findInBucket(files, recorded, archive)).to.deep.equal([]);
    const [finding] = await findInBucket(
      files.filter((file) => file !== gone),
      recorded,
      archive,
    );
    expect(finding).to.deep.include({ kind: "archive", from: gone?.from, to: gone?.to });
    expect(finding?.message).to.include(gone?.file);
  });

  it("goes on with the next part at the next time", async () => {
    const first = await side.archive();
    for (let job = 0; job < 6; job += 1) await side.jobHappens();
    const second = await side.archive();
    expect(second.files[0]).to.deep.include({ from: first.cutTo + 1, number: first.files.length + 1 });
    expect((await verifyLog(side.reading(side.directory).sealedLog, trustNothing)).findings).to.deep.equal([]);
    expect(await side.reading(side.directory).log.readHistory(theJob(9))).to.have.length(6);
  });
  for (const [what, events] of [
    ["has not ended", [jobStarted()]],
    ["is paused", [jobPaused()]],
    ["has an open dead letter", [jobStarted(), jobFailed()]],
  ] as const) {
    it(`keeps everything from the first entry of a job that ${what}, and names it`, async () => {
      const job = newJob();
      const { lastSequence } = await side.log.state();
      await happen(side.log, job, [jobCreated(), ...events]);
      for (let more = 0; more < 6; more += 1) await side.jobHappens();
      const { cutTo, heldBack } = await side.archive();
      expect(cutTo).to.be.within(1, lastSequence);
      expect(heldBack[0]).to.deep.include({ job, sequence: lastSequence + 1 });
      expect(await side.log.readHistory(job)).to.have.length(1 + events.length);
    });
  }

  it("is not held back by a dead letter that was decided about", async () => {
    await happen(side.log, newJob(), [jobCreated(), jobStarted(), jobFailed(), deadLetterIgnored()]);
    expect((await side.archive()).heldBack).to.deep.equal([]);
  });

  it("is held back by a consumer that has not acknowledged what would be cut, and names it", async () => {
    const stream = `${side.prefix}_JOBS`;
    const manager = await side.connection.nats.jetstreamManager();
    await manager.consumers.add(stream, { durable_name: "accounts", ack_policy: AckPolicy.Explicit });
    const { heldBack, cutTo } = await side.archive();
    expect(heldBack[0]?.why).to.include("accounts");
    expect(cutTo).to.equal(0);
    await manager.consumers.delete(stream, "accounts");
    expect((await side.archive()).cutTo).to.be.greaterThan(0);
  });

  it("keeps what RETENTION_DAYS has still to erase", async () => {
    const { heldBack, cutTo } = await side.archive({ areErased: true });
    expect(heldBack).to.have.length(10);
    expect(heldBack[0]).to.deep.include({ job: theJob(0), sequence: 1 });
    expect(cutTo).to.equal(0);
  });

  it("takes nothing that was sealed after the date", async () => {
    const before = new Date(Date.now() - 60_000);
    expect(await side.archive({ before })).to.deep.equal({ files: [], cutTo: 0, heldBack: [], indexFault: null });
  });

  it("refuses a log that is not what was sealed, and cuts nothing", async () => {
    const { storedLog } = side.ports;
    const altered: StoredLog = {
      ...storedLog,
      entries: async function* (after, upTo) {
        for await (const batch of storedLog.entries(after, upTo)) {
          yield batch.map((entry) => (entry.sequence === 7 ? { ...entry, subject: `${entry.subject}x` } : entry));
        }
      },
    };
    expect(await failureOf(side.archive({}, { storedLog: altered }))).to.be.instanceOf(ArchiveRefused);
    expect(await firstInStream()).to.equal(1);
    expect(await storedLog.recorded()).to.deep.equal([]);
  });

  describe("in a process that dies", () => {
    class Died extends Error {}
    const dies = async (): Promise<never> => {
      throw new Died();
    };
    const isWhole = async (): Promise<void> => {
      const { log, sealedLog } = side.reading(side.directory);
      for (const job of jobs) expect(await log.readHistory(job)).to.have.length(6);
      expect((await verifyLog(sealedLog, trustNothing)).findings).to.deep.equal([]);
    };
    const finishes = async (): Promise<void> => {
      await isWhole();
      const { cutTo } = await side.archive();
      expect(cutTo).to.be.greaterThan(50);
      await isWhole();
      for (const job of jobs)
        expect(await failureOf(side.reading(null).log.readDecisions(job))).to.be.instanceOf(Archived);
    };

    it("with a file half written, begins that file anew", async () => {
      const { storedLog } = side.ports;
      const entries: StoredLog["entries"] = async function* (after, upTo) {
        for await (const batch of storedLog.entries(after, upTo)) {
          yield batch.slice(0, 7);
          await dies();
        }
      };
      await failureOf(side.archive({}, { storedLog: { ...storedLog, entries } }));
      expect(await readdir(side.directory)).to.satisfy((names: string[]) =>
        names.every((name) => name.endsWith(".part")),
      );
      await finishes();
    });

    it("with files written and not recorded, writes them again", async () => {
      await failureOf(side.archive({}, { log: { ...side.log, append: dies } }));
      expect(await firstInStream()).to.equal(1);
      await finishes();
    });

    it("with some of the files recorded, goes on after them", async () => {
      let appended = 0;
      const append: EventLog["append"] = async (...entry) => {
        appended += 1;
        return appended > 1 ? await dies() : await side.log.append(...entry);
      };
      await failureOf(side.archive({}, { log: { ...side.log, append } }));
      expect(await side.ports.storedLog.recorded()).to.have.length(1);
      expect(await firstInStream()).to.equal(1);
      await finishes();
      const files = await side.index.files();
      expect(files.map(({ number }) => number)).to.deep.equal(files.map((_, at) => at + 1));
    });

    it("with the index half written, completes it", async () => {
      const addJobs: ArchiveIndex["addJobs"] = async (files) => {
        await side.index.addJobs(files.map(({ number, digests }) => ({ number, digests: digests.slice(0, 2) })));
        await dies();
      };
      // A power cut takes the end of the bucket, so what is in it speaks for what was stored before.
      for (let times = 0; times < 2; times += 1) {
        await failureOf(side.archive({}, { index: { ...side.index, addJobs } }));
        expect(await side.index.files()).to.deep.equal([]);
      }
      expect(await firstInStream()).to.equal(1);
      await finishes();
    });

    it("with everything recorded and nothing cut, cuts it", async () => {
      await failureOf(side.archive({}, { storedLog: { ...side.ports.storedLog, cut: dies } }));
      expect(await firstInStream()).to.equal(1);
      await finishes();
    });

    it("with a part cut, cuts the rest", async () => {
      const { storedLog } = side.ports;
      const cut: StoredLog["cut"] = async (steps) => {
        await storedLog.cut(steps.slice(0, 1));
        await dies();
      };
      await failureOf(side.archive({}, { storedLog: { ...storedLog, cut } }));
      expect(await firstInStream()).to.be.greaterThan(1);
      await finishes();
    });
  });

  it("cuts nothing off that the log does not record, as where its bucket is from a later moment than the log", async () => {
    const died = new Error("died");
    // As after a power cut that took the records, or a restore of streams that were copied one after the other.
    await failureOf(
      side.archive(
        {},
        {
          log: { ...side.log, append: async () => 0 },
          storedLog: { ...side.ports.storedLog, cut: () => Promise.reject(died) },
        },
      ),
    );
    expect(await side.index.files()).to.have.length.above(0);
    const refused = await failureOf(side.archive());
    expect(refused).to.be.instanceOf(ArchiveRefused);
    expect(refused.message).to.include("the log does not record it").and.include("Delete the bucket");
    expect(await firstInStream()).to.equal(1);
    await (await side.connection.nats.jetstreamManager()).streams.delete(`KV_${side.prefix}_ARCHIVE`);
    const { cutTo } = await side.archive();
    expect(cutTo).to.be.greaterThan(50);
    expect((await side.ports.storedLog.recorded()).length).to.equal((await side.index.files()).length);
  });

  it("cuts nothing of a job that is opened again while it is archived, until it is over once more", async () => {
    let isAgain = false;
    const addJobs: ArchiveIndex["addJobs"] = async (jobsOfFiles) => {
      if (!isAgain) await happen(side.log, theJob(3), [jobRetried()]);
      isAgain = true;
      await side.index.addJobs(jobsOfFiles);
    };
    const { cutTo, heldBack, files } = await side.archive({}, { index: { ...side.index, addJobs } });
    expect(files.length).to.be.greaterThan(1);
    expect(heldBack[0]).to.deep.include({ job: theJob(3), why: "it has not ended" });
    expect(cutTo).to.be.lessThan(heldBack[0]?.sequence ?? 0);
    expect((await side.archive()).cutTo).to.equal(cutTo);
    expect(await side.log.readHistory(theJob(3))).to.have.length(7);
    await happen(side.log, theJob(3), [jobCompleted()]);
    expect((await side.archive()).cutTo).to.be.greaterThan(cutTo);
    expect(await side.reading(side.directory).log.readHistory(theJob(3))).to.have.length(8);
  });

  describe("while it is read", () => {
    /** As far as it may be cut, and nothing is cut yet. */
    const archiveUncut = async (): Promise<readonly ArchivedFile[]> => {
      const cut = () => Promise.reject(new Error("not yet"));
      await failureOf(side.archive({}, { storedLog: { ...side.ports.storedLog, cut } }));
      return await side.index.files();
    };
    /** The log on a connection that cuts it before it asks what matches. */
    const cutBefore = async (asked: RegExp, to: number): Promise<EventLog> => {
      let isCut = false;
      const request: JetStreamConnection["request"] = async (subject, data, ...more) => {
        if (!isCut && asked.test(`${subject} ${data}`)) {
          isCut = true;
          await side.ports.storedLog.cut([{ to, count: to - (await firstInStream()) + 1 }]);
        }
        return await side.connection.request(subject, data, ...more);
      };
      return await createJetStreamEventLog({ ...side.connection, request }, side.prefix);
    };

    it("leaves a history whole whose facts are cut off after its decisions were read", async () => {
      const job = theJob(3);
      const before = await side.log.readHistory(job);
      await archiveUncut();
      const ended = before.at(-1)?.sequence ?? 0;
      for (const to of [ended - 1, ended]) {
        const log = await cutBefore(/STREAM\.MSG\.GET.*"last_by_subj":"[^"]*\.facts"/, to);
        const { archive } = side.reading(side.directory);
        expect(await withArchive(log, archive, side.prefix).readHistory(job)).to.deep.equal(before);
      }
    });

    it("leaves a history whole whose facts are cut off while they are read", async () => {
      const job = theJob(3);
      const before = await side.log.readHistory(job);
      await archiveUncut();
      const log = await cutBefore(
        /STREAM\.MSG\.GET.*"next_by_subj":"[^"]*\.facts"/,
        (before.at(-1)?.sequence ?? 0) - 1,
      );
      const { archive } = side.reading(side.directory);
      const begun = performance.now();
      expect(await withArchive(log, archive, side.prefix).readHistory(job)).to.deep.equal(before);
      expect(performance.now() - begun).to.be.lessThan(1400);
    });

    it("leaves a follower what was cut off inside a batch", async () => {
      const files = await archiveUncut();
      const { archive } = side.reading(side.directory);
      const [from, to] = [10, files.at(-1)?.to ?? 0];
      const holed = alteredLog(side.log, (event) => (event.sequence > from && event.sequence <= to ? "gap" : event));
      const { lastSequence } = await side.log.state();
      const sequences = async (log: EventLog): Promise<readonly string[]> => {
        const read: string[] = [];
        const over = new AbortController();
        for await (const batch of log.follow({ afterSequence: 0, maxEvents: 10_000, signal: over.signal })) {
          for (const { sequence, index } of batch) read.push(`${sequence}.${index}`);
          if ((batch.at(-1)?.sequence ?? 0) >= lastSequence) break;
        }
        over.abort();
        return read;
      };
      expect(await sequences(withArchive(holed, archive, side.prefix))).to.deep.equal(await sequences(side.log));
    });

    for (const which of ["all", "seals"] as const) {
      it(`leaves what is verified, ${which === "all" ? "every message" : "every seal"}, whole`, async () => {
        for (let job = 0; job < 4; job += 1) await side.jobHappens();
        const files = await archiveUncut();
        const { archive, sealedLog } = side.reading(side.directory);
        const sequencesOf = async (log: SealedLog): Promise<readonly number[]> =>
          (await readAll(log.messages(0, which))).map(({ sequence }) => sequence);
        const all = await sequencesOf(sealedLog);
        for (const from of [0, all[0] ?? 0, all[Math.floor(all.length / 2)] ?? 0]) {
          const to = files.at(-1)?.to ?? 0;
          const isLeft = ({ sequence }: { readonly sequence: number }) => sequence <= from || sequence > to;
          const holed: SealedLog = {
            ...side.sealedLog,
            messages: async function* (after, wanted) {
              for await (const batch of side.sealedLog.messages(after, wanted)) {
                if (batch.some(isLeft)) yield batch.filter(isLeft);
              }
            },
          };
          expect(await sequencesOf(withArchivedMessages(holed, archive)), `cut after ${from}`).to.deep.equal(all);
        }
      });
    }

    it("leaves a process in a cluster an answer that had seen nothing after the cut", async () => {
      const { connection } = side;
      const info = { ...connection.nats.info, cluster: "one of several servers" };
      const nats = new Proxy(connection.nats, {
        get: (target, name) => (name === "info" ? info : Reflect.get(target, name)),
      });
      const log = await createJetStreamEventLog({ ...connection, nats }, side.prefix);
      expect(await log.lastDecision(theJob(0))).to.be.greaterThan(0);
      await side.archive();
      expect(await log.lastDecision(theJob(0))).to.equal(0);
    });
  });

  describe("and an index that", () => {
    const bucket = (): string => `KV_${side.prefix}_ARCHIVE`;
    const streams = async () => (await side.connection.nats.jetstreamManager()).streams;
    const someEntries = async (): Promise<void> => {
      const manager = await streams();
      const { state } = await manager.info(bucket(), { subjects_filter: ">" });
      const ofJobs = Object.keys(state.subjects ?? {}).filter((subject) => subject.includes(".jobs."));
      for (const subject of ofJobs.slice(0, 3)) await manager.purge(bucket(), { filter: subject });
    };
    for (const [what, lose] of [
      ["is lost", async () => void (await (await streams()).delete(bucket()))],
      ["was emptied", async () => void (await (await streams()).purge(bucket()))],
      ["has lost some of its jobs", someEntries],
    ] as const) {
      it(`${what} is noticed, lets no key be taken again, and is made again from the files`, async () => {
        await side.archive();
        for (let job = 0; job < 6; job += 1) await side.jobHappens();
        await side.archive();
        const before = await side.index.files();
        const numbers = await Promise.all(jobs.map((job) => side.index.numbersOf(job)));
        await lose();
        const { archive, log } = side.reading(side.directory);
        const dies = (): Promise<never> => Promise.reject(new Error("died"));
        for (const died of [{ addFiles: dies }, { complete: dies }]) {
          await failureOf(side.archive({ before: new Date(0) }, { index: { ...side.index, ...died } }));
        }
        expect(await archive.indexFault()).to.match(/^The log begins at \d+, and the index of archived jobs/);
        // It may have looked within the last second.
        await eventually(async () => {
          expect(await failureOf(log.readDecisions(newJob()))).to.be.instanceOf(Unavailable);
        });
        const { indexFault, files } = await side.archive({ before: new Date(0) });
        expect(indexFault).to.be.a("string");
        expect(files).to.deep.equal([]);
        expect(await archive.indexFault()).to.equal(null);
        expect(await side.index.files()).to.deep.equal(before);
        expect(await Promise.all(jobs.map((job) => side.index.numbersOf(job)))).to.deep.equal(numbers);
        expect(await side.reading(null).log.readDecisions(newJob())).to.deep.equal([]);
      });
    }

    it("is lost is not made again while a file is missing or changed, which is named", async () => {
      await side.archive();
      const files = await side.index.files();
      await (await streams()).delete(bucket());
      const file = files[1]?.file ?? "";
      await flipByte(join(side.directory, file));
      const failure = await failureOf(side.archive());
      expect(failure).to.be.instanceOf(ArchiveRefused);
      expect(String(failure)).to.include(file);
      expect(await side.reading(null).archive.indexFault()).to.be.a("string");
    });
  });

  it("by two processes at once is done once, and nothing is lost", async () => {
    await side.newSealer().sealNow();
    const runs = await Promise.allSettled([side.archive(), side.archive()]);
    expect(runs.some(({ status }) => status === "fulfilled") || (await side.archive()).cutTo > 0).to.equal(true);
    await side.archive();
    const { log, sealedLog } = side.reading(side.directory);
    for (const job of jobs) expect(await log.readHistory(job)).to.have.length(6);
    expect((await verifyLog(sealedLog, trustNothing)).findings).to.deep.equal([]);
  });

  for (const [what, harm] of [
    ["is missing", (path: string) => rm(path)],
    ["was cut off", (path: string) => truncate(path, 700)],
    ["was changed", (path: string) => flipByte(path)],
  ] as const) {
    describe(`and a file that ${what}`, () => {
      it("refuse the cut", async () => {
        await failureOf(
          side.archive({}, { storedLog: { ...side.ports.storedLog, cut: () => Promise.reject(new Error()) } }),
        );
        const [file] = await side.index.files();
        await harm(join(side.directory, file?.file ?? ""));
        const failure = await failureOf(side.archive());
        expect(failure).to.be.instanceOf(ArchiveRefused);
        expect(String(failure)).to.include(file?.file).and.to.include(what);
        expect(await firstInStream()).to.equal(1);
      });

      it("refuse a reader that begins before the cut, and the history of a job in it", async () => {
        const { files } = await side.archive();
        const file = files[1]?.file ?? "";
        await harm(join(side.directory, file));
        const { log, archive } = side.reading(side.directory);
        const read: number[] = [];
        const following = async () => {
          for await (const batch of log.follow({
            afterSequence: 0,
            maxEvents: 100,
            signal: new AbortController().signal,
          })) {
            read.push(batch.length);
          }
        };
        const failure = await failureOf(following());
        expect(failure).to.be.instanceOf(Archived);
        expect((failure as Archived).file).to.equal(file);
        expect(read).to.deep.equal([]);
        for (const job of jobs) {
          if (!(await side.index.numbersOf(job)).includes(2)) continue;
          expect(await failureOf(log.readHistory(job))).to.be.instanceOf(Archived);
          read.push(0);
        }
        expect(read).not.to.deep.equal([]);
        expect(await archive.faultOf(files[1] as ArchivedFile)).to.be.a("string");
      });
    });
  }

  it("leaves a reader that begins at the start of the log every event once, in order", async () => {
    const follow = async (log: EventLog, end: number): Promise<readonly string[]> => {
      const read: string[] = [];
      const over = new AbortController();
      for await (const batch of log.follow({ afterSequence: 3, maxEvents: 7, signal: over.signal })) {
        for (const { sequence, index } of batch) if (sequence <= end) read.push(`${sequence}.${index}`);
        if ((batch.at(-1)?.sequence ?? 0) >= end) break;
      }
      over.abort();
      return read;
    };
    await side.newSealer().sealNow();
    const { lastSequence } = await side.log.state();
    const before = await follow(side.log, lastSequence);
    await side.archive();
    expect(await follow(side.reading(side.directory).log, lastSequence)).to.deep.equal(before);
  });

  it("lets a decision follow an archived one, once", async () => {
    await side.archive();
    const { log } = side.reading(side.directory);
    const erased = jobContentErased();
    const guard = await log.lastDecision(theJob(0));
    const append = () => log.append(theJob(0), [caused("erasure", erased)], guard);
    await append();
    expect(await failureOf(log.append(theJob(0), [caused("another", erased)], guard))).to.be.instanceOf(
      VersionConflict,
    );
    const types = (await log.readHistory(theJob(0))).map(({ event }) => event.type);
    expect(types.at(0)).to.equal("JobCreated");
    expect(types.at(-1)).to.equal("JobContentErased");
    expect(types).to.have.length(7);
    for (let job = 0; job < 6; job += 1) await side.jobHappens();
    await side.archive();
    expect(
      (await side.reading(side.directory).log.readHistory(theJob(0))).map(({ event }) => event.type),
    ).to.deep.equal(types);
  });
});

/** One byte in the middle, where a block is. */
async function flipByte(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[60] = (bytes[60] ?? 0) ^ 1;
  await writeFile(path, bytes);
}
