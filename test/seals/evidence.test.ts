import { expect } from "chai";
import fc from "fast-check";
import type { ContentStore } from "../../src/content/content-store.ts";
import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createJetStreamEventLog } from "../../src/event-log/jetstream-event-log.ts";
import { allPassed, type Check, type Trust, trustNothing } from "../../src/seals/check.ts";
import { EvidenceBroken, type EvidenceSources, makeEvidence, signed } from "../../src/seals/evidence.ts";
import type { EvidenceStatement } from "../../src/seals/evidence-format.ts";
import { linesOfEvidence } from "../../src/seals/evidence-report.ts";
import { createJetStreamSealedLog } from "../../src/seals/jetstream-sealed-log.ts";
import { newSealKey } from "../../src/seals/seal-key.ts";
import { verifyEvidence } from "../../src/seals/verify-evidence.ts";
import {
  caused,
  jobCompleted,
  jobContentErased,
  jobCreated,
  jobStarted,
  recipientFailed,
  recipientSent,
  recipientsClaimed,
} from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { exampleContent } from "../support/write-side.ts";
import { openSealingSide, type SealingSide } from "./sealing.ts";

const madeAt = "2026-11-21T10:00:00.000Z";

describe("The evidence of a job", () => {
  let nats: TestNats;
  let side: SealingSide;
  let contentStore: ContentStore;
  let job: JobRef;
  let bundle: string;

  const content = encodeContent({
    ...exampleContent,
    subject: "Your invoice – № 7",
    recipients: [{ email: "ada@example.com" }, { email: "bob@example.com" }],
  });
  const sources = (): EvidenceSources => ({ ...side, contentStore, now: () => madeAt });
  const happens = async (stored: boolean): Promise<JobRef> => {
    const made = newJob("acme");
    if (stored) await contentStore.put(made, content);
    await happen(side.log, made, [
      jobCreated({ total: 2, contentSha256: digestOf(content) }),
      jobStarted(),
      recipientsClaimed({ recipients: [0, 1] }),
      recipientSent({ recipient: 0 }),
      recipientFailed({ recipient: 1 }),
      jobCompleted(),
    ]);
    return made;
  };
  const bundleOf = async (one: JobRef): Promise<string> => (await makeEvidence(sources(), one)) ?? "";
  const check = (text: string, trust: Trust = trustNothing): readonly Check[] =>
    verifyEvidence(Buffer.from(text), trust).checks;
  const faults = (text: string, trust: Trust = trustNothing): string =>
    check(text, trust)
      .filter(({ ok }) => !ok)
      .map(({ what, detail }) => `${what}. ${detail}`)
      .join("\n");
  const statementOf = (text: string): EvidenceStatement => JSON.parse(text.split("\n")[0] ?? "");
  const published = (text: string): Trust["seals"] =>
    new Map(statementOf(text).seals.map((seal) => [seal.to, seal.digest]));
  /** A forgery by someone with the key, or with a key of their own. */
  const forged = (change: (statement: EvidenceStatement) => EvidenceStatement, key = side.key): string =>
    signed(change(statementOf(bundle)), key);

  before(async () => {
    nats = await startNats();
    side = await openSealingSide(nats);
    contentStore = createMemoryContentStore();
    await side.jobHappens(4);
    job = await happens(true);
    await side.jobHappens(3);
    await side.newSealer().sealNow();
    bundle = await bundleOf(job);
  });
  after(async () => {
    await side.close();
    await nats.cleanUp();
  });

  it("is whole, holds every event as it is stored, what was sent, and proofs over more than one seal", async () => {
    expect(faults(bundle)).to.equal("");
    const statement = statementOf(bundle);
    expect(statement).to.include({
      tenant: "acme",
      jobId: job.jobId,
      madeAt,
      content: Buffer.from(content).toString(),
    });
    expect(
      statement.entries.flatMap(({ body }) => JSON.parse(body).map(({ type }: { type: string }) => type)),
    ).to.deep.equal((await side.log.readHistory(job)).map(({ event }) => event.type));
    expect(statement.seals.map(({ from, to }) => [from, to])).to.deep.equal([
      [1, 10],
      [11, 20],
    ]);
    const trust = { keys: [side.key.publicKey], seals: published(bundle) };
    expect(faults(bundle, trust)).to.equal("");
  });

  it("reports which recipient was mailed what, when and with which answer, and each check", () => {
    const text = linesOfEvidence(verifyEvidence(Buffer.from(bundle), trustNothing)).join("\n");
    for (const part of [
      `Evidence about job ${job.jobId} of tenant acme`,
      'Subject: "Your invoice – № 7"',
      "1. ada@example.com",
      'accepted by the mail server: "250 2.0.0 OK"',
      "2. bob@example.com",
      'refused for good: "550 5.1.1 <…> mailbox unavailable"',
      "JobCompleted by worker:worker-1",
      "[ok]     Each entry stands in the sealed log exactly as it is shown here. 6 of 6 entries are sealed.",
      "The bundle is whole: what it shows is what the service recorded and signed.",
      `It is signed with key ${side.key.keyId}.`,
    ]) {
      expect(text).to.include(part);
    }
    expect(text).not.to.include("FAILED");
    const altered = linesOfEvidence(
      verifyEvidence(Buffer.from(bundle.replace("250 2.0.0", "250 2.0.1")), trustNothing),
    );
    expect(altered.join("\n")).to.include("[FAILED]").and.include("THE BUNDLE IS NOT WHOLE");
  });

  it("is told apart from one that another key has signed, and from what is none", () => {
    const inSum = (text: string, trust: Trust): string | undefined =>
      linesOfEvidence(verifyEvidence(Buffer.from(text), trust)).find((line) => /^T[A-Z]|^The bundle/.test(line));
    const stranger: Trust = { keys: [newSealKey().publicKey], seals: new Map() };
    expect(inSum(bundle, { ...stranger, keys: [side.key.publicKey] })).to.match(/^The bundle is whole/);
    expect(inSum(bundle, stranger)).to.match(/^THE BUNDLE IS WHOLE, AND SIGNED WITH A KEY THAT YOU DID NOT NAME: /);
    expect(inSum(bundle.replace("250 2.0.0", "250 2.0.1"), stranger)).to.match(/^THE BUNDLE IS NOT WHOLE/);
    expect(inSum("email,name\nada@example.com,Ada\n", stranger)).to.match(/^THIS CANNOT BE READ AS A BUNDLE/);
  });

  it("names the key that its reader did not, which after a change of the key is that of the older seals", () => {
    const next = newSealKey();
    const resigned = signed(statementOf(bundle), next);
    const [verdict = ""] = linesOfEvidence(
      verifyEvidence(Buffer.from(resigned), { keys: [next.publicKey], seals: new Map() }),
    );
    expect(verdict).to.match(/^THE BUNDLE IS WHOLE, AND SIGNED WITH A KEY THAT YOU DID NOT NAME: /);
    expect(verdict).to.include(side.key.keyId).and.not.include(next.keyId);
    const both: Trust = { keys: [next.publicKey, side.key.publicKey], seals: new Map() };
    expect(faults(resigned, both)).to.equal("");
  });

  it("fails wherever one byte of it is changed, and says what is wrong", () => {
    const bytes = Buffer.from(bundle);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, difference) => {
        const altered = Buffer.from(bytes);
        altered[at] = (altered[at] ?? 0) ^ difference;
        const { checks } = verifyEvidence(altered, trustNothing);
        expect(allPassed(checks), `byte ${at} ^ ${difference}`).to.equal(false);
        expect(checks.find(({ ok }) => !ok)?.detail).to.match(/\w/);
      }),
      { numRuns: 2000 },
    );
  });

  it("says where: which event, which seal, the content, or the signature", () => {
    const cases: readonly (readonly [found: string, put: string, place: RegExp])[] = [
      ["250 2.0.0", "250 2.0.1", /Entry 4 of the bundle \(sequence \d+\): it or its proof was altered/],
      [`acme.${job.jobId}"`, `acne.${job.jobId}"`, /Entry 1 of the bundle/],
      ['"count":10', '"count":11', /The seal of events 1 to 10: its (range makes no sense|signature)/],
      ["ada@example.com", "eve@example.com", /The content was altered/],
      [madeAt, madeAt.replace("10:", "11:"), /the first line or the signature was altered/],
      ['\n{"keyId":"', '\n{"keyIe":"', /Its second line, the signature, cannot be read/],
      ['"proof":{', '"proof": {', /It was altered at byte \d+/],
    ];
    for (const [found, put, place] of cases) {
      expect(bundle).to.include(found);
      expect(faults(bundle.replace(found, put)), found).to.match(place);
    }
    expect(faults("nonsense")).to.include("Its first line cannot be read");
    expect(faults("")).to.include("It is empty.");
    const refusal = { type: "urn:waybill:problem:job-not-found", detail: "There is no job with this id.", status: 404 };
    expect(faults(JSON.stringify(refusal)))
      .to.include("an error that the service answered")
      .and.include(refusal.detail);
    expect(faults(`${bundle}\n`)).to.include("It was altered at byte");
  });

  it("cannot be forged without the key: the contents of the log are proven apart from the signature of the bundle", () => {
    const key = newSealKey();
    const trust = { keys: [side.key.publicKey], seals: new Map() };
    const left = forged((statement) => ({ ...statement, entries: statement.entries.slice(0, -1) }), key);
    expect(faults(left, trust)).to.include(`You did not name key ${key.keyId}`);
    const invented = forged((statement) => ({
      ...statement,
      entries: statement.entries.map((event) => ({ ...event, body: event.body.replace("550 5.1.1", "250 2.0.0") })),
    }));
    expect(faults(invented)).to.match(/Entry 5 of the bundle/);
    const unproven = forged((statement) => ({
      ...statement,
      entries: statement.entries.map((event, index) => (index === 3 ? { ...event, proof: null } : event)),
    }));
    expect(faults(unproven)).to.include("it has no proof, though later entries are sealed");
    const renamed = forged((statement) => ({ ...statement, tenant: "shop" }));
    expect(faults(renamed)).to.include("is not of this job");
    const swapped = forged((statement) => ({ ...statement, entries: [...statement.entries].reverse() }));
    expect(faults(swapped)).to.match(/Entry 2 \(sequence \d+\) stands after/);
    const others = forged((statement) => statement, key);
    expect(faults(others)).to.equal("");
    const seals = new Map(statementOf(bundle).seals.map((seal) => [seal.to, "0".repeat(64)]));
    expect(faults(bundle, { keys: [], seals })).to.include("The seal of events 1 to 10 is not.");
  });

  it("cannot be forged with the key either where a published seal covers the entry: it must have its proof", () => {
    const trust = { keys: [side.key.publicKey], seals: published(bundle) };
    const unproven = forged((statement) => ({
      ...statement,
      entries: statement.entries.map((entry) => ({
        ...entry,
        body: entry.body.replace("550 5.1.1", "250 2.0.0"),
        proof: null,
      })),
      seals: [],
    }));
    expect(faults(unproven)).to.equal("");
    expect(faults(unproven, trust)).to.match(
      /Entry 5 of the bundle \(sequence \d+\) has no proof, and a published seal covers it\..* Ask for the evidence again/,
    );
    const lines = linesOfEvidence(verifyEvidence(Buffer.from(unproven), trust));
    expect(lines[0]).to.match(/^THE BUNDLE LACKS PROOFS/);
    expect(lines.join("\n")).not.to.include("The bundle is whole");
  });

  it("has to be asked for anew where it was made before the last published seal", async () => {
    const late = await happens(true);
    const early = await bundleOf(late);
    expect(faults(early, { keys: [], seals: published(bundle) })).to.equal("");
    await side.newSealer().sealNow();
    const anew = await bundleOf(late);
    const trust = { keys: [], seals: new Map([...published(bundle), ...published(anew)]) };
    expect(faults(early, trust)).to.match(/^Each entry that a published seal covers has its proof\. .*Ask for the/);
    expect(faults(anew, trust)).to.equal("");
  });

  it("is not called altered where it was sealed after the last published seal that the reader has, and fails", async () => {
    const late = await happens(true);
    await side.newSealer().sealNow();
    const text = await bundleOf(late);
    const verdictOf = (bundle: string, trust: Trust) => {
      const report = verifyEvidence(Buffer.from(bundle), trust);
      return { isSound: allPassed(report.checks), first: linesOfEvidence(report)[0] };
    };
    const trust = { keys: [side.key.publicKey], seals: published(bundle) };
    const found = verdictOf(text, trust);
    expect(found.isSound).to.equal(false);
    expect(found.first).to.match(/^THE BUNDLE HAS LATER SEALS THAN THE PUBLISHED ONES THAT YOU HAVE/);
    expect(faults(text, trust)).to.match(
      /The seal of events \d+ to \d+ is not\..* get the ones that were published since/,
    );
    const stranger = newSealKey();
    const resigned = signed(statementOf(text), stranger);
    expect(verdictOf(resigned, trust).first).to.match(/^THE BUNDLE IS WHOLE, AND SIGNED WITH A KEY/);
    const [, second] = [...published(bundle)];
    const contradicted = { ...trust, seals: new Map([[second?.[0] ?? 0, "0".repeat(64)]]) };
    expect(verdictOf(bundle, contradicted).first).to.match(/^THE BUNDLE IS NOT WHOLE/);
  });

  it("is not called altered where the reader lacks a seal in between, as a mail that was lost, and fails", () => {
    const [first, second] = [...published(bundle)];
    const verdictWith = (seals: Trust["seals"]) =>
      linesOfEvidence(verifyEvidence(Buffer.from(bundle), { keys: [], seals }))[0];
    const lacking = new Map([second ?? [0, ""]]);
    expect(verdictWith(lacking)).to.match(/^THE BUNDLE HAS SEALS THAT ARE NOT AMONG THE PUBLISHED ONES THAT YOU HAVE/);
    expect(faults(bundle, { keys: [], seals: lacking })).to.include("The seal of events 1 to 10 is not.");
    // One that ends where no published seal may have ended.
    const overlapped = new Map([[5, "0".repeat(64)] as const, ...lacking]);
    expect(verdictWith(overlapped)).to.match(/^THE BUNDLE IS NOT WHOLE/);
    const contradicted = new Map([[first?.[0] ?? 0, "0".repeat(64)] as const, ...lacking]);
    expect(verdictWith(contradicted)).to.match(/^THE BUNDLE IS NOT WHOLE/);
  });

  it("shows when an event was stored that says another time: one that is put in today may be dated back", async () => {
    const dated = newJob("acme");
    await contentStore.put(dated, content);
    const at = new Date().toISOString();
    await happen(side.log, dated, [
      { ...jobCreated({ total: 2, contentSha256: digestOf(content) }), at },
      { ...jobStarted(), at },
      { ...recipientSent({ recipient: 0 }), at },
      { ...recipientSent({ recipient: 1 }), at: "2026-01-01T00:00:00.000Z" },
    ]);
    const lines = linesOfEvidence(verifyEvidence(Buffer.from(await bundleOf(dated)), trustNothing));
    const stored = lines.filter((line) => line.includes("stored only at"));
    expect(stored).to.have.length(1);
    expect(stored[0]).to.match(
      /^ {4}2026-01-01T00:00:00.000Z {2}accepted .*, stored only at 2\d{3}-\d\d-\d\dT[\d:.]+Z\)$/,
    );
  });

  it("tells once what was stored once more after its answer was lost: nobody was mailed twice", async () => {
    const doubled = newJob("acme");
    await contentStore.put(doubled, content);
    await happen(side.log, doubled, [
      jobCreated({ total: 2, contentSha256: digestOf(content) }),
      jobStarted(),
      recipientsClaimed({ recipients: [0, 1] }),
    ]);
    const sent = caused("the-outcome", recipientSent({ recipient: 0 }));
    await side.log.record(doubled, [sent]);
    // The server forgets the id of an entry after two minutes, and looks at that of the first event alone.
    await side.log.record(doubled, [caused("another", recipientFailed({ recipient: 1 })), sent]);
    const text = await bundleOf(doubled);
    expect(faults(text)).to.equal("");
    const lines = linesOfEvidence(verifyEvidence(Buffer.from(text), trustNothing)).join("\n");
    expect(lines.match(/accepted by the mail server/g)).to.have.length(1);
    expect(lines).to.include(
      "5 entries. Events that were stored once more, as an answer was lost, and are told once: 1.",
    );
    // Of two that say different things, both are told, whatever their ids.
    await side.log.record(doubled, [
      caused("yet-another", recipientFailed({ recipient: 1 })),
      caused("the-outcome", recipientSent({ recipient: 0, response: "250 queued" })),
    ]);
    const again = linesOfEvidence(verifyEvidence(Buffer.from(await bundleOf(doubled)), trustNothing)).join("\n");
    expect(again.match(/accepted by the mail server/g)).to.have.length(2);
  });

  it("says that what was sent was erased, and keeps its digest", async () => {
    const erased = await happens(false);
    await happen(side.log, erased, [jobContentErased()]);
    await side.newSealer().sealNow();
    const text = await bundleOf(erased);
    expect(faults(text)).to.equal("");
    expect(statementOf(text).content).to.equal(null);
    const lines = linesOfEvidence(verifyEvidence(Buffer.from(text), trustNothing)).join("\n");
    expect(lines)
      .to.include("What was sent was erased")
      .and.include(`its SHA-256 was ${digestOf(content)}`);
    expect(lines).not.to.include("@example.com");
  });

  it("fails where what was sent is not in it, and no erasure is recorded", async () => {
    const text = await bundleOf(await happens(false));
    expect(faults(text)).to.include("It is not in the bundle, and no erasure is recorded.");
    const lines = linesOfEvidence(verifyEvidence(Buffer.from(text), trustNothing)).join("\n");
    expect(lines).to.include("What was sent is not in the bundle").and.not.include("was erased");
  });

  it("does not say that everything was erased where recipients are still being erased", async () => {
    const erased = await happens(true);
    await happen(side.log, erased, [jobContentErased({ recipients: [0], contentSha256: "0".repeat(64) })]);
    const text = await bundleOf(erased);
    expect(statementOf(text).content).to.equal(null);
    expect(faults(text)).to.equal("");
    const lines = linesOfEvidence(verifyEvidence(Buffer.from(text), trustNothing)).join("\n");
    expect(lines).to.include("Recipients were erased at").and.not.include("It was erased");
  });

  it("holds the erasure that this process has read, though a new leader of a cluster has not applied its end yet", async () => {
    const erased = await happens(true);
    await happen(side.log, erased, [jobContentErased()]);
    const { nats: client } = side.connection;
    const info = { ...client.info, cluster: "one of several servers" };
    const jetstreamManager = async () => {
      const { streams } = await client.jetstreamManager();
      const lagging = async (name: string) => {
        const found = await streams.info(name);
        return { ...found, state: { ...found.state, last_seq: found.state.last_seq - 1 } };
      };
      return { streams: { info: lagging } };
    };
    const changed: Readonly<Record<string | symbol, unknown>> = { info, jetstreamManager };
    const connection = {
      ...side.connection,
      nats: new Proxy(client, { get: (target, name) => changed[name] ?? Reflect.get(target, name) }),
    };
    const log = await createJetStreamEventLog(connection, side.prefix);
    const sealedLog = await createJetStreamSealedLog(connection, side.prefix);
    // As the routes do before they ask for evidence.
    await log.readHistory(erased);
    const text = (await makeEvidence({ ...sources(), log, sealedLog }, erased)) ?? "";
    expect(statementOf(text)).to.include({ content: null });
    expect(faults(text)).to.equal("");
  });

  it("says which events are not sealed yet", async () => {
    const late = await happens(true);
    const text = await bundleOf(late);
    expect(faults(text)).to.equal("");
    expect(
      check(text)
        .map(({ detail }) => detail)
        .join("\n"),
    ).to.include("0 of 6 entries are sealed. 6 not yet");
  });

  it("is refused where a seal is gone that covered some of its entries, and leaves none of them out", async () => {
    const late = newJob("acme");
    await contentStore.put(late, content);
    const created = jobCreated({ total: 2, contentSha256: digestOf(content) });
    for (const event of [created, jobStarted(), recipientSent(), jobCompleted()]) {
      await happen(side.log, late, [event]);
      await side.newSealer().sealNow();
    }
    const whole = statementOf(await bundleOf(late));
    expect(whole.entries).to.have.length(4);
    for (const gone of whole.seals.slice(0, -1)) {
      const { messages } = side.sealedLog;
      const withoutSeal: typeof messages = async function* (after, which) {
        for await (const batch of messages(after, which)) {
          yield which === "all" ? batch : batch.filter(({ sequence }) => sequence !== gone.sequence);
        }
      };
      const sealedLog = { ...side.sealedLog, messages: withoutSeal };
      expect(await failureOf(makeEvidence({ ...sources(), sealedLog }, late))).to.be.instanceOf(EvidenceBroken);
    }
  });

  it("is none of a job that the log does not know", async () => {
    expect(await makeEvidence(sources(), newJob("acme"))).to.equal(null);
    expect(await makeEvidence(sources(), { ...job, tenant: "shop" })).to.equal(null);
  });

  it("is made of the seals that cover its events, and of no others, however many stand between", async () => {
    const late = newJob("acme");
    await contentStore.put(late, content);
    await happen(side.log, late, [
      jobCreated({ total: 2, contentSha256: digestOf(content) }),
      jobStarted(),
      recipientsClaimed({ recipients: [0] }),
    ]);
    for (let jobs = 0; jobs < 20; jobs += 1) await side.jobHappens(6);
    await side.newSealer({ everyEvents: 2 }).sealNow();
    await happen(side.log, late, [recipientSent(), jobCompleted()]);
    await side.newSealer().sealNow();
    const read: number[] = [];
    const { messages } = side.sealedLog;
    const counted: typeof messages = async function* (after, which) {
      for await (const batch of messages(after, which)) {
        for (const message of batch) {
          if (which === "seals") read.push(message.sequence);
          yield [message];
        }
      }
    };
    const text = await makeEvidence({ ...sources(), sealedLog: { ...side.sealedLog, messages: counted } }, late);
    expect(statementOf(text ?? "").seals).to.have.length.within(2, 4);
    expect(faults(text ?? "")).to.equal("");
    // Those of the events, and where one is looked for, those before it that came too late for theirs.
    expect(read.length).to.be.lessThan(30);
  });
});
