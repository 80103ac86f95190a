import { expect } from "chai";
import fc from "fast-check";
import type { ContentStore } from "../../src/content/content-store.ts";
import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { EvidenceRefused, type EvidenceTrust, type ProvenEvidence, verifyEvidence } from "../../src/sdk/client.ts";
import { allPassed, type Trust } from "../../src/seals/check.ts";
import { makeEvidence, signed } from "../../src/seals/evidence.ts";
import type { EvidenceStatement } from "../../src/seals/evidence-format.ts";
import { newSealKey, publicPemOf } from "../../src/seals/seal-key.ts";
import { verifyEvidence as verifyOnService } from "../../src/seals/verify-evidence.ts";
import { openSealingSide, type SealingSide } from "../seals/sealing.ts";
import { jobCompleted, jobCreated, jobStarted, recipientSent, recipientsClaimed } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { exampleContent } from "../support/write-side.ts";

type Seal = EvidenceStatement["seals"][number];
type Entry = EvidenceStatement["entries"][number];

describe("Evidence that an application verifies", () => {
  let nats: TestNats;
  let side: SealingSide;
  let contentStore: ContentStore;
  let job: JobRef;
  let bundle: string;

  const content = encodeContent({
    ...exampleContent,
    subject: "Your invoice – № 7",
    recipients: [{ email: "ada@example.com", name: "Ada" }],
  });
  const happens = async (): Promise<JobRef> => {
    const made = newJob("acme");
    await contentStore.put(made, content);
    await happen(side.log, made, [
      jobCreated({ total: 1, contentSha256: digestOf(content) }),
      jobStarted(),
      recipientsClaimed({ recipients: [0] }),
      recipientSent({ recipient: 0 }),
      jobCompleted(),
    ]);
    return made;
  };
  const bundleOf = async (one: JobRef): Promise<string> =>
    (await makeEvidence({ ...side, contentStore, now: () => "2026-11-21T10:00:00.000Z" }, one)) ?? "";
  const statementOf = (text: string): EvidenceStatement => JSON.parse(text.split("\n")[0] ?? "");
  const keys = (): EvidenceTrust => ({ keys: [side.key.publicKey] });
  const refused = async (text: string | Uint8Array, trust = keys()): Promise<readonly string[]> => {
    const failure = await failureOf(verifyEvidence(text, trust));
    expect(failure).to.be.instanceOf(EvidenceRefused).and.include({ code: "evidence-refused" });
    return (failure as EvidenceRefused).checks.flatMap(({ ok, what }) => (ok ? [] : [what]));
  };

  before(async () => {
    nats = await startNats();
    side = await openSealingSide(nats);
    contentStore = createMemoryContentStore();
    await side.jobHappens(4);
    job = await happens();
    await side.jobHappens(3);
    await side.newSealer().sealNow();
    bundle = await bundleOf(job);
  });
  after(async () => {
    await side.close();
    await nats.cleanUp();
  });

  it("is whole, whether its key is given as PEM or as base64, and says what it proves", async () => {
    const { seals } = statementOf(bundle);
    const proven: ProvenEvidence = await verifyEvidence(bundle, { ...keys(), seals });
    expect(proven).to.include({ tenant: "acme", jobId: job.jobId, unsealed: 0 });
    expect(proven.events.map(({ type }) => type)).to.deep.equal([
      ...["JobCreated", "JobStarted", "RecipientsClaimed", "RecipientSent", "JobCompleted"],
    ]);
    expect(proven.content).to.deep.include({ recipients: [{ email: "ada@example.com", name: "Ada" }] });
    expect(proven.keyIds).to.deep.equal([side.key.keyId]);
    await verifyEvidence(Buffer.from(bundle), { keys: [publicPemOf(side.key.publicKey)] });
    expect((await verifyEvidence(bundle, { keys: [] })).jobId).to.equal(job.jobId);
  });

  it("says how much of it no seal covers yet", async () => {
    expect((await verifyEvidence(await bundleOf(await happens()), keys())).unsealed).to.be.above(0);
  });

  it("is refused with another key, with other published seals, and where it is no evidence", async () => {
    expect(await refused(bundle, { keys: [newSealKey().publicKey] })).to.deep.equal([
      "all of it was signed with a trusted key",
    ]);
    const seals = statementOf(bundle).seals.map((seal) => ({ ...seal, digest: "0".repeat(64) }));
    expect(await refused(bundle, { ...keys(), seals })).to.deep.equal(["each seal is among those that were published"]);
    // Whoever has the key can publish another seal of the same events later on.
    const both = [...seals, ...statementOf(bundle).seals];
    expect(await refused(bundle, { ...keys(), seals: both })).to.deep.equal([
      "each seal is among those that were published",
    ]);
    const twice = [...statementOf(bundle).seals, ...statementOf(bundle).seals];
    expect((await verifyEvidence(bundle, { ...keys(), seals: twice })).jobId).to.equal(job.jobId);
    for (const none of ["", "{}\n{}\n", "null\nnull\n", "email,name\n", Buffer.from([0xff, 0xfe]), `${bundle}\n`]) {
      expect(await refused(none)).to.deep.equal(["the file is a bundle of evidence, written as such files are"]);
    }
    expect(await failureOf(verifyEvidence(bundle, { keys: ["no key"] }))).to.be.instanceOf(TypeError);
  });

  it("is refused where a published seal covers an entry that has no proof, and where its content is withheld", async () => {
    const { seals } = statementOf(bundle);
    const bare = (one: EvidenceStatement) => one.entries.map((entry) => ({ ...entry, proof: null }));
    const unproven = signed({ ...statementOf(bundle), entries: bare(statementOf(bundle)), seals: [] }, side.key);
    expect((await verifyEvidence(unproven, keys())).unsealed).to.equal(5);
    expect(await refused(unproven, { ...keys(), seals })).to.deep.equal([
      "each entry that a published seal covers has its proof",
    ]);
    expect(await refused(signed({ ...statementOf(bundle), content: null }, side.key))).to.deep.equal([
      "what was sent, and to whom, is what the events name",
    ]);
  });

  const trust: Trust = { keys: [], seals: new Map() };
  /** Both ask any key: what is forged is signed with one of the forger's own. */
  const expectSameVerdict = async (text: string): Promise<boolean> => {
    const isWhole = allPassed(verifyOnService(Buffer.from(text), trust).checks);
    const verdict = await verifyEvidence(text, { keys: [] }).then(
      () => true,
      (failure: unknown) => !(failure instanceof EvidenceRefused),
    );
    expect(verdict, text).to.equal(isWhole);
    return verdict;
  };

  it("is refused exactly where the service's own verifier refuses it: a character altered anywhere", async () => {
    const altered = fc.tuple(fc.nat(bundle.length - 1), fc.constantFrom("0", "a", '"', " ", "\n", "}", "é"));
    await fc.assert(
      fc.asyncProperty(altered, async ([at, by]) => {
        const text = bundle.slice(0, at) + by + bundle.slice(at + 1);
        expect(await expectSameVerdict(text)).to.equal(text === bundle);
      }),
      { numRuns: 300 },
    );
  });

  it("is refused exactly where the service's own verifier refuses it: a forgery that is signed anew", async () => {
    const changes: readonly (readonly [string, (statement: EvidenceStatement) => EvidenceStatement])[] = [
      ["nothing", (one) => one],
      ["another time", (one) => ({ ...one, madeAt: "2026-11-22T10:00:00.000Z" })],
      ["another tenant", (one) => ({ ...one, tenant: "other" })],
      ["another job", (one) => ({ ...one, jobId: "other" })],
      ["no content", (one) => ({ ...one, content: null })],
      ["another content", (one) => ({ ...one, content: (one.content ?? "").replace("ada@", "eve@") })],
      ["no entries", (one) => ({ ...one, entries: [] })],
      ["without its first entry", (one) => ({ ...one, entries: one.entries.slice(1) })],
      ["without its last entry", (one) => ({ ...one, entries: one.entries.slice(0, -1) })],
      ["in another order", (one) => ({ ...one, entries: [...one.entries].reverse() })],
      ["without its seals", (one) => ({ ...one, seals: [] })],
      ["without its proofs", (one) => ({ ...one, entries: one.entries.map((entry) => ({ ...entry, proof: null })) })],
      ["a body", ofEntry((entry) => ({ ...entry, body: entry.body.replace("worker-1", "worker-2") }))],
      ["a body that is none", ofEntry((entry) => ({ ...entry, body: "[]", proof: null }))],
      ["a time of storage", ofEntry((entry) => ({ ...entry, storedAt: `${BigInt(entry.storedAt) + 1n}` }))],
      ["a subject with a line feed", ofEntry((entry) => ({ ...entry, subject: `${entry.subject}\nx` }))],
      ["a place", ofProof((proof) => ({ ...proof, index: proof.index + 1 }))],
      ["a place beyond its tree", ofProof((proof) => ({ ...proof, index: 10_000 }))],
      ["another seal", ofProof((proof) => ({ ...proof, seal: proof.seal + 1 }))],
      ["a shorter path", ofProof((proof) => ({ ...proof, path: proof.path.slice(1) }))],
      ["a longer path", ofProof((proof) => ({ ...proof, path: [...proof.path, "0".repeat(64)] }))],
      ["a path of other nodes", ofProof((proof) => ({ ...proof, path: proof.path.map(() => "0".repeat(64)) }))],
      ["a root", ofSeal((seal) => ({ ...seal, root: "0".repeat(64) }))],
      ["a range", ofSeal((seal) => ({ ...seal, to: seal.to + 1 }))],
      ["a count", ofSeal((seal) => ({ ...seal, count: seal.count + 1 }))],
      ["a digest", ofSeal((seal) => ({ ...seal, digest: "0".repeat(64) }))],
      ["a key", ofSeal((seal) => ({ ...seal, publicKey: newSealKey().publicKey }))],
      ["the name of a key", ofSeal((seal) => ({ ...seal, keyId: "0".repeat(16) }))],
      ["a signature", ofSeal((seal) => ({ ...seal, signature: `${seal.signature} ` }))],
    ];
    const verdicts: string[] = [];
    for (const [what, change] of changes) {
      if (await expectSameVerdict(signed(change(statementOf(bundle)), newSealKey()))) verdicts.push(what);
    }
    expect(verdicts).to.include("nothing").and.not.include.members(["a body", "a root", "another content"]);
    expect(verdicts.length).to.be.below(5);
  });
});

type Change = (statement: EvidenceStatement) => EvidenceStatement;

const ofEntry =
  (change: (entry: Entry) => Entry): Change =>
  (one) => ({ ...one, entries: one.entries.map((entry, index) => (index === 1 ? change(entry) : entry)) });

const ofProof = (change: (proof: NonNullable<Entry["proof"]>) => NonNullable<Entry["proof"]>): Change =>
  ofEntry((entry) => ({ ...entry, proof: entry.proof && change(entry.proof) }));

const ofSeal =
  (change: (seal: Seal) => Seal): Change =>
  (one) => ({ ...one, seals: one.seals.map((seal, index) => (index === 0 ? change(seal) : seal)) });
