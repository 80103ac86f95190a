import { expect } from "chai";
import { withArchivedMessages } from "../../src/archive/archived-messages.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { examineMessage, recordPass } from "../../src/event-log/jetstream-odd-messages.ts";
import { trustNothing } from "../../src/seals/check.ts";
import { EvidenceBroken, makeEvidence } from "../../src/seals/evidence.ts";
import { createJetStreamSealedLog } from "../../src/seals/jetstream-sealed-log.ts";
import { verifyLog } from "../../src/seals/verify-log.ts";
import { fileOf } from "../seals/log-files.ts";
import { readAll } from "../seals/sealing.ts";
import { failureOf } from "../support/failure-of.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { type ArchivingSide, openArchivingSide } from "./archiving.ts";

describe("Evidence of an archived job, with a message on the subject of seals that is none", () => {
  let nats: TestNats;
  let side: ArchivingSide;
  let job: JobRef;

  before(async () => {
    nats = await startNats();
  });
  after(() => nats.cleanUp());
  beforeEach(async () => {
    side = await openArchivingSide(nats);
    await side.newSealer().sealNow();
    job = await side.jobHappens(2);
  });
  afterEach(() => side.close());

  const publish = async (): Promise<number> =>
    (await side.connection.nats.jetstream().publish(`${side.prefix}.jobs._service.log.seal`, "garbage")).seq;
  const passBy = async (sequence: number): Promise<void> => {
    const odd = await examineMessage(side.connection, side.prefix, sequence);
    if (odd === null) throw new Error(`Nothing stands at ${sequence}`);
    const { subject, sha256, fault } = odd;
    const decision = { reason: "a test", actor: "cli:test", at: new Date().toISOString() };
    await recordPass(side.connection, side.prefix, side.log, {
      sequence,
      subject,
      sha256,
      fault: fault ?? "",
      ...decision,
    });
  };
  /** As a process makes it that has just started. */
  const evidenceNow = async () => {
    const { log, archive } = side.reading(side.directory);
    const sealedLog = withArchivedMessages(await createJetStreamSealedLog(side.connection, side.prefix), archive);
    const now = () => "2026-11-21T10:00:00.000Z";
    const sources = { log, sealedLog, key: side.key, contentStore: createMemoryContentStore(), now };
    const [line = ""] = (await makeEvidence(sources, job))?.split("\n") ?? [];
    const { entries, seals } = JSON.parse(line);
    return { entries, seals };
  };

  it("is made after the cut as before it, where the message was passed by", async () => {
    const sequence = await publish();
    await passBy(sequence);
    await side.newSealer().sealNow();
    for (let more = 0; more < 8; more += 1) await side.jobHappens(2);
    const before = await evidenceNow();
    expect(before.entries).to.have.length(6);
    expect((await side.archive()).cutTo).to.be.greaterThan(sequence + 10);
    expect(await evidenceNow()).to.deep.equal(before);
  });

  it("is made of a log in which another program has put a subject beyond ASCII, which can be archived and exported, too", async () => {
    const { seq } = await side.connection.nats.jetstream().publish(`${side.prefix}.jobs.acme.Grüße`, "garbage");
    await passBy(seq);
    for (let more = 0; more < 8; more += 1) await side.jobHappens(2);
    await side.newSealer().sealNow();
    const messages = await readAll(side.sealedLog.messages(0, "all"));
    expect((await verifyLog(await fileOf(messages), trustNothing)).findings).to.deep.equal([]);
    expect((await side.archive()).cutTo).to.be.greaterThan(seq);
    const { sealedLog } = side.reading(side.directory);
    expect((await verifyLog(sealedLog, trustNothing)).findings).to.deep.equal([]);
    expect((await evidenceNow()).entries).to.have.length(6);
  });

  it("is refused where it was not", async () => {
    await publish();
    expect(await failureOf(evidenceNow())).to.be.instanceOf(EvidenceBroken);
  });
});
