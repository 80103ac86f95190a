import { readFile, writeFile } from "node:fs/promises";
import { expect } from "chai";
import { type JetStreamManager, RetentionPolicy, StorageType } from "nats";
import type { LogMessage } from "../../src/event-log/log-message.ts";
import { type Trust, trustNothing } from "../../src/seals/check.ts";
import { createJetStreamSealedLog } from "../../src/seals/jetstream-sealed-log.ts";
import { NotALogFile, openLogFile } from "../../src/seals/log-file.ts";
import { linesOfLog } from "../../src/seals/log-report.ts";
import { digestOfSeal, readSeal } from "../../src/seals/seal.ts";
import { newSealKey } from "../../src/seals/seal-key.ts";
import { type LogReport, verifyLog } from "../../src/seals/verify-log.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { exported, fileOf, replaced, resealed, withText } from "./log-files.ts";
import { openSealingSide, readAll, type SealingSide } from "./sealing.ts";

/** Sealed are 1 to 10, 11 to 20, 21 to 30, by seals at 21, 22 and 31 or later; the rest is not sealed. */
describe("A log that is held against its seals", () => {
  let nats: TestNats;
  let side: SealingSide;
  let admin: JetStreamManager;
  let messages: readonly LogMessage[];
  let copies = 0;

  before(async () => {
    nats = await startNats();
    side = await openSealingSide(nats);
    admin = await side.connection.nats.jetstreamManager();
    for (let job = 0; job < 4; job += 1) await side.jobHappens();
    await side.newSealer().sealWhatIsDue();
    for (let job = 0; job < 2; job += 1) await side.jobHappens();
    await side.newSealer().sealWhatIsDue();
    messages = await readAll(side.sealedLog.messages(0, "all"));
  });
  after(async () => {
    await side.close();
    await nats.cleanUp();
  });

  const verified = async (altered: readonly LogMessage[], trust: Trust = trustNothing): Promise<LogReport> =>
    verifyLog(await fileOf(altered), trust);
  const foundIn = ({ findings }: LogReport) =>
    findings.map(({ kind, from, to, sequences }) => ({ kind, range: [from, to], sequences }));
  const sealsIn = (some: readonly LogMessage[]) => some.flatMap((message) => readSeal(message) ?? []);
  const publishedSeals = (): Trust["seals"] => new Map(sealsIn(messages).map((seal) => [seal.to, digestOfSeal(seal)]));

  /** A copy in another stream, which lets messages be deleted: with the places and times of the original. */
  const copied = async (): Promise<string> => {
    copies += 1;
    const name = `${side.prefix}_COPY${copies}`;
    await admin.streams.add({
      name,
      mirror: { name: `${side.prefix}_JOBS` },
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
    });
    await eventually(async () => expect((await admin.streams.info(name)).state.messages).to.equal(messages.length));
    return name;
  };
  const verifiedCopy = async (name: string, trust = trustNothing): Promise<LogReport> =>
    verifyLog(await createJetStreamSealedLog(side.connection, side.prefix, name), trust);

  it("is whole where nothing was touched: in the stream, in a copy, in an export without any server", async () => {
    const whole = {
      findings: [],
      seals: 3,
      messages: messages.length,
      lastSequence: messages.length,
      sealedTo: 30,
      unsealed: 2,
      keyIds: [side.key.keyId],
      passed: [],
    };
    const trust = { keys: [side.key.publicKey], seals: publishedSeals() };
    expect(await verifyLog(side.sealedLog, trust)).to.deep.equal(whole);
    expect(await verifiedCopy(await copied(), trust)).to.deep.equal(whole);
    expect(await verified(messages, trust)).to.deep.equal(whole);
  });

  it("names the message that was deleted", async () => {
    const copy = await copied();
    await admin.streams.deleteMessage(copy, 5);
    await admin.streams.deleteMessage(copy, 14);
    const report = await verifiedCopy(copy);
    expect(foundIn(report)).to.deep.equal([
      { kind: "missing", range: [1, 10], sequences: [5] },
      { kind: "missing", range: [11, 20], sequences: [14] },
    ]);
    expect(report.findings[0]?.message).to.equal(
      "Of events 1 to 10 10 messages were sealed and 9 are there: 1 were removed. Absent: 5.",
    );
  });

  it("says which range is cut off where the log ends before its seals do", async () => {
    const copy = await copied();
    for (let sequence = 26; sequence <= messages.length; sequence += 1)
      await admin.streams.deleteMessage(copy, sequence);
    expect(foundIn(await verifiedCopy(copy))).to.deep.equal([]);
    const report = await verifiedCopy(copy, { keys: [], seals: publishedSeals() });
    expect(foundIn(report)).to.deep.equal([{ kind: "rewritten", range: [21, 30], sequences: [] }]);
    expect(report.findings[0]?.message).to.include(
      "the log holds no such seal: the log was rewritten or rolled back from 21 on",
    );
  });

  it("says of an export that ends before a published seal that it may be older than that, and of no other contradiction", async () => {
    const later = "An export that was made before that seal shows the same";
    const trust = { keys: [], seals: publishedSeals() };
    const older = await verified(
      messages.filter(({ sequence }) => sequence <= 26),
      trust,
    );
    expect(foundIn(older)).to.deep.equal([{ kind: "rewritten", range: [21, 30], sequences: [] }]);
    expect(older.findings[0]?.message).to.include(later);
    const rewritten = resealed(
      replaced(messages, 12, (message) => withText(message, (text) => text.replace(/"run":1/, '"run":9'))),
      side.key,
    );
    expect((await verified(rewritten, trust)).findings[0]?.message).not.to.include(later);
  });

  it("says how far the published seals reach: what was sealed after them can be made anew with the stolen key", async () => {
    const [first, second] = [...publishedSeals()];
    const early: Trust = { keys: [side.key.publicKey], seals: new Map([first ?? [0, ""], second ?? [0, ""]]) };
    const rewritten = resealed(
      replaced(messages, 23, (message) => withText(message, (text) => text.replace(/"run":1/, '"run":9'))),
      side.key,
    );
    const report = await verified(rewritten, early);
    expect(foundIn(report)).to.deep.equal([]);
    expect(linesOfLog(report, early)).to.include(
      "Held against 2 published seals, up to 20. What was sealed after that, the key alone proves: get the seals that were published since.",
    );
    const whole = { ...early, seals: publishedSeals() };
    expect(linesOfLog(await verified(messages, whole), whole)).to.include("Held against 3 published seals, up to 30.");
  });

  it("says which range is cut off where the seal is still there and the events are not", async () => {
    const cut = messages.filter((message) => message.sequence <= 6 || message.sequence >= 21);
    expect(foundIn(await verified(cut))).to.deep.equal([
      { kind: "missing", range: [1, 10], sequences: [7, 8, 9, 10] },
      { kind: "missing", range: [11, 20], sequences: [11, 12, 13, 14, 15, 16, 17, 18, 19, 20] },
    ]);
  });

  const flips: Readonly<Record<string, (message: LogMessage) => LogMessage>> = {
    "a bit of its body": (message) => withText(message, (text) => text.replace('"time":"2', '"time":"3')),
    "its subject": (message) => ({ ...message, subject: message.subject.replace("default", "defaulu") }),
    "the time at which it was stored": (message) => ({ ...message, storedAt: String(BigInt(message.storedAt) ^ 1n) }),
  };
  for (const [what, flip] of Object.entries(flips)) {
    it(`names the range in which someone changed ${what}`, async () => {
      for (const sequence of [2, 10, 13, 23, 30]) {
        const from = sequence - ((sequence - 1) % 10);
        const [finding] = foundIn(await verified(replaced(messages, sequence, flip)));
        expect(finding).to.deep.include({ kind: "changed", range: [from, from + 9] });
      }
    });
  }

  it("names the event that speaks of another job than it stands at, and the one that is no event any more", async () => {
    const strange = replaced(messages, 12, (message) =>
      withText(message, (text) => text.replace(/"subject":".{8}/, '"subject":"00000000')),
    );
    expect(foundIn(await verified(strange))).to.deep.equal([{ kind: "changed", range: [11, 20], sequences: [12] }]);
    const broken = replaced(messages, 3, (message) => withText(message, (text) => text.slice(1)));
    const report = await verified(broken);
    expect(foundIn(report)).to.deep.equal([{ kind: "changed", range: [1, 10], sequences: [3] }]);
    expect(report.findings[0]?.message).to.include("Look at 3 first: no entry of events.");
  });

  it("names what came out of order, and finds messages that have changed places", async () => {
    const [third, fourth] = [messages[2], messages[3]] as [LogMessage, LogMessage];
    const shuffled = messages.map((message) => (message === third ? fourth : message === fourth ? third : message));
    expect(foundIn(await verified(shuffled))).to.deep.equal([{ kind: "reordered", range: [1, 10], sequences: [3] }]);
    const exchanged = messages.map((message) => {
      if (message === third) return { ...fourth, sequence: 3 };
      return message === fourth ? { ...third, sequence: 4 } : message;
    });
    expect(foundIn(await verified(exchanged))).to.deep.equal([{ kind: "changed", range: [1, 10], sequences: [4] }]);
  });

  it("finds a message that was put in, where the log had a gap or twice", async () => {
    const gapped = resealed(
      messages.filter(({ sequence }) => sequence !== 7),
      side.key,
    );
    expect(foundIn(await verified(gapped))).to.deep.equal([]);
    const filled = [...gapped.slice(0, 6), messages[6] as LogMessage, ...gapped.slice(6)];
    expect(foundIn(await verified(filled))).to.deep.equal([{ kind: "added", range: [1, 10], sequences: [] }]);
    const doubled = messages.flatMap((message) => (message.sequence === 15 ? [message, message] : [message]));
    expect(foundIn(await verified(doubled))).to.deep.equal([{ kind: "reordered", range: [11, 20], sequences: [15] }]);
  });

  it("finds a message that stands behind the last seal and claims a place before it", async () => {
    const posing = withText(messages[4] as LogMessage, (text) => text.replace("250 2.0.0", "550 5.1.1"));
    expect(foundIn(await verified([...messages, posing]))).to.deep.equal([
      { kind: "reordered", range: [31, messages.length], sequences: [5] },
    ]);
  });

  it("names a seal that was changed, and what is unproven without it", async () => {
    const [, second] = sealsIn(messages);
    const place = second?.sequence ?? 0;
    const forged = replaced(messages, place, (message) =>
      withText(message, (text) => text.replace('"count":10', '"count":9')),
    );
    const [finding] = foundIn(await verified(forged));
    expect(finding).to.deep.equal({ kind: "seal", range: [11, 20], sequences: [place] });
    const unreadable = replaced(messages, place, (message) => withText(message, (text) => text.slice(1)));
    expect((await verified(unreadable)).findings[0]?.message)
      .to.include(`The seal at ${place}`)
      .and.include("cannot be read");
  });

  it("finds that a seal is gone", async () => {
    const place = sealsIn(messages)[1]?.sequence ?? 0;
    const [finding] = (await verified(messages.filter(({ sequence }) => sequence !== place))).findings;
    expect(finding).to.deep.include({ kind: "seal" });
    expect(finding?.message).to.include("events 11 to 20 were sealed by one that is gone");
  });

  it("that was changed and sealed anew with another key is found by a reader who knows the right one, or has kept the seals", async () => {
    const thief = newSealKey();
    const rewritten = resealed(
      replaced(messages, 12, (message) => withText(message, (text) => text.replace(/"run":1/, '"run":9'))),
      thief,
    );
    const blind = await verified(rewritten);
    expect(foundIn(blind)).to.deep.equal([]);
    expect(blind.keyIds).to.deep.equal([thief.keyId]);
    const [byKey] = (await verified(rewritten, { keys: [side.key.publicKey], seals: new Map() })).findings;
    expect(byKey).to.deep.include({ kind: "key", from: 1, to: 30 });
    expect(byKey?.message).to.include(`signed with key ${thief.keyId}, which is none that you trust`);
    expect(byKey?.message).to.include("if that one is new, name the one before it too, by --key");
    const inPart = [...resealed(messages, thief).slice(0, 22), ...messages.slice(22)];
    const { findings } = await verified(inPart, { keys: [thief.publicKey], seals: new Map() });
    const later = findings.find(({ kind }) => kind === "key");
    expect(later?.message).to.include("which is none that you trust").and.not.to.include("if that one is new");
    const [bySeals] = foundIn(await verified(rewritten, { keys: [], seals: publishedSeals() }));
    expect(bySeals).to.deep.equal({ kind: "rewritten", range: [1, 10], sequences: [] });
  });

  it("that was changed and sealed anew with the stolen key is found by a reader who has kept the seals, with the first altered range", async () => {
    const rewritten = resealed(
      replaced(messages, 12, (message) => withText(message, (text) => text.replace(/"run":1/, '"run":9'))),
      side.key,
    );
    expect(foundIn(await verified(rewritten, { keys: [side.key.publicKey], seals: new Map() }))).to.deep.equal([]);
    expect(foundIn(await verified(rewritten, { keys: [], seals: publishedSeals() }))).to.deep.equal([
      { kind: "rewritten", range: [11, 20], sequences: [] },
    ]);
  });

  it("whose key was changed by its owner is intact for a reader who trusts the new one, as each seal speaks for those before", async () => {
    const next = newSealKey();
    const rotated = await openSealingSide(nats);
    try {
      await rotated.jobHappens();
      await rotated.newSealer().sealNow();
      await rotated.jobHappens();
      await rotated.newSealer({ key: next }).sealNow();
      const trusting = (key: string) => verifyLog(rotated.sealedLog, { keys: [key], seals: new Map() });
      const report = await trusting(next.publicKey);
      expect(report.findings).to.deep.equal([]);
      expect(report.keyIds).to.deep.equal([rotated.key.keyId, next.keyId]);
      expect(foundIn(await trusting(rotated.key.publicKey))).to.deep.equal([
        { kind: "key", range: [6, 11], sequences: [12] },
      ]);
    } finally {
      await rotated.close();
    }
  });

  describe("as a file", () => {
    it("is refused where a line is none, with its number", async () => {
      const path = await exported(messages);
      const text = await readFile(path, "utf8");
      await writeFile(path, text.slice(0, -20));
      const failure = await failureOf(verifyLog(openLogFile(path), trustNothing));
      expect(failure).to.be.instanceOf(NotALogFile);
      expect(failure.message).to.include(`Line ${messages.length + 1} of ${path}`);
    });

    it("is refused where a message has a place that no log has, and that no seal could cover", async () => {
      for (const sequence of [0, -3]) {
        const more = { ...(messages[4] as LogMessage), sequence };
        expect(
          await failureOf(verifyLog(await fileOf([...messages, more]), trustNothing)),
          `${sequence}`,
        ).to.be.instanceOf(NotALogFile);
      }
    });

    it("is refused where a subject holds a line feed: the rest of it could pass for a body", async () => {
      const moved = replaced(messages, 4, (message) => ({ ...message, subject: `${message.subject}\n{` }));
      expect(await failureOf(verifyLog(await fileOf(moved), trustNothing))).to.be.instanceOf(NotALogFile);
    });

    it("keeps every byte of a body, also what is no UTF-8 and what other readers take for the end of a line", async () => {
      const odd = [Buffer.from([0xff, 0x00, 0x0a]), Buffer.from("\u2028\u2029\r\n\u0085"), Buffer.from("")];
      const written = odd.map((body, index) => ({ sequence: index + 1, storedAt: "1", subject: "jobs.a.b", body }));
      const read = await readAll((await fileOf(written)).messages(0, "all"));
      expect(read.map(({ body }) => Buffer.from(body).toString("hex"))).to.deep.equal(
        odd.map((body) => body.toString("hex")),
      );
    });
  });
});
