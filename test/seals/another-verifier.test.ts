import { createHash, createPublicKey, verify } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import { makeEvidence } from "../../src/seals/evidence.ts";
import { jobCompleted, jobContentErased, jobCreated, jobStarted, recipientSent } from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { exampleContent } from "../support/write-side.ts";
import { exported } from "./log-files.ts";
import { openSealingSide, readAll, type SealingSide } from "./sealing.ts";

// From here to the tests: written from src/seals/README.md alone, with nothing of the service.

type Message = { sequence: number; storedAt: string; subject: string; body?: string; bodyBase64?: string };
type Seal = {
  sequence: number;
  sealedAt: string;
  from: number;
  to: number;
  count: number;
  root: string;
  previous: string | null;
  keyId: string;
  publicKey: string;
  signature: string;
};
type Entry = Message & { proof: { seal: number; index: number; path: string[] } | null };

const sha256 = (...parts: (Buffer | string)[]): Buffer => {
  const sum = createHash("sha256");
  for (const part of parts) sum.update(part);
  return sum.digest();
};
const bodyOf = ({ body, bodyBase64 = "" }: Message): Buffer =>
  body === undefined ? Buffer.from(bodyBase64, "base64") : Buffer.from(body);
const eventsOf = (message: Message) =>
  JSON.parse(bodyOf(message).toString()) as { type: string; time: string; data: Record<string, unknown> }[];

function leafHashOf(message: Message): Buffer {
  const { sequence, storedAt, subject } = message;
  if (subject.includes("\n")) throw new Error("No subject holds a line feed");
  return sha256(Buffer.of(0), `waybill.log.v1\n${sequence}\n${storedAt}\n${subject}\n`, bodyOf(message));
}

const node = (left: Buffer, right: Buffer): Buffer => sha256(Buffer.of(1), left, right);
function leftOf(size: number): number {
  let left = 1;
  while (left * 2 < size) left *= 2;
  return left;
}
function rootOf(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 1) return leaves[0] as Buffer;
  const left = leftOf(leaves.length);
  return node(rootOf(leaves.slice(0, left)), rootOf(leaves.slice(left)));
}
function rootOfPath(leaf: Buffer, index: number, size: number, path: readonly string[]): Buffer {
  if (size === 1 && path.length === 0) return leaf;
  const last = Buffer.from(path.at(-1) ?? "", "hex");
  if (size === 1 || last.length !== 32) throw new Error("The path does not fit the tree");
  const [left, rest] = [leftOf(size), path.slice(0, -1)];
  if (index < left) return node(rootOfPath(leaf, index, left, rest), last);
  return node(last, rootOfPath(leaf, index - left, size - left, rest));
}

const keyOf = (publicKey: string) =>
  createPublicKey(`-----BEGIN PUBLIC KEY-----\n${publicKey}\n-----END PUBLIC KEY-----\n`);
const statementOf = ({ from, to, count, root, previous, sealedAt, publicKey }: Seal): string =>
  `waybill.seal.v1\nfrom ${from}\nto ${to}\ncount ${count}\nroot ${root}\nprevious ${previous ?? "none"}\n` +
  `sealed-at ${sealedAt}\nkey ${publicKey}\n`;

function expectSigned(seal: Seal): void {
  const { publicKey, keyId, signature } = seal;
  expect(sha256(Buffer.from(publicKey, "base64")).toString("hex").slice(0, 16)).to.equal(keyId);
  expect(verify(null, Buffer.from(statementOf(seal)), keyOf(publicKey), Buffer.from(signature, "base64"))).to.equal(
    true,
  );
}

/** The number of seals in an export. */
function verifiedLog(text: string, prefix: string): number {
  const [head = "", ...lines] = text.trimEnd().split("\n");
  expect(JSON.parse(head).format).to.equal("waybill-log/1");
  const messages = lines.map((line): Message => JSON.parse(line));
  expect(messages.at(-1)?.sequence).to.equal(JSON.parse(head).lastSequence);
  const seals = messages
    .filter(({ subject }) => subject === `${prefix}.jobs._service.log.seal`)
    .map((message) => {
      const [{ time, data } = { time: "", data: {} }] = eventsOf(message);
      return { ...(data as unknown as Seal), sequence: message.sequence, sealedAt: time };
    });
  let before: Seal | null = null;
  for (const seal of seals) {
    expectSigned(seal);
    expect(seal.from).to.equal((before?.to ?? 0) + 1);
    expect(seal.previous).to.equal(before === null ? null : sha256(statementOf(before)).toString("hex"));
    const range = messages.filter(({ sequence }) => seal.from <= sequence && sequence <= seal.to);
    expect(range).to.have.length(seal.count);
    expect(rootOf(range.map(leafHashOf)).toString("hex")).to.equal(seal.root);
    before = seal;
  }
  return seals.length;
}

/** What was sent, as the bundle has it. */
function verifiedEvidence(text: string): string | null {
  const [line = "", second = "", ...rest] = text.split("\n");
  expect(rest).to.deep.equal([""]);
  const { publicKey, signature } = JSON.parse(second);
  const signed = Buffer.from(`waybill.evidence.v1\n${line}`);
  expect(verify(null, signed, keyOf(publicKey), Buffer.from(signature, "base64"))).to.equal(true);
  const { entries, seals, content } = JSON.parse(line) as { entries: Entry[]; seals: Seal[]; content: string | null };
  for (const seal of seals) expectSigned(seal);
  for (const entry of entries) {
    if (entry.proof === null) {
      for (const { to } of seals) expect(entry.sequence).to.be.greaterThan(to);
      continue;
    }
    const { seal: place, index, path } = entry.proof;
    const seal = seals.find(({ sequence }) => sequence === place) as Seal;
    expect(entry.sequence).to.be.within(seal.from, seal.to);
    expect(rootOfPath(leafHashOf(entry), index, seal.count, path).toString("hex")).to.equal(seal.root);
  }
  const events = entries.flatMap(eventsOf);
  const erasures = events.filter(({ type }) => type === "JobContentErased");
  if (content === null) {
    expect(erasures).not.to.deep.equal([]);
  } else {
    expect(sha256(content).toString("hex")).to.equal((erasures.at(-1) ?? events[0])?.data["contentSha256"]);
  }
  return content;
}

describe("A verifier that someone else wrote, from the description of seals alone", () => {
  let nats: TestNats;
  let side: SealingSide;

  before(async () => {
    nats = await startNats();
    side = await openSealingSide(nats);
  });
  after(async () => {
    await side.close();
    await nats.cleanUp();
  });

  const content = (recipients: readonly ({ readonly email: string } | null)[]) =>
    encodeContent({ ...exampleContent, subject: "Your invoice – № 7", recipients });
  const sent = content([{ email: "ada@example.com" }, { email: "bob@example.com" }]);
  const left = content([null, { email: "bob@example.com" }]);

  it("comes to the same about a log, also with a body that is no text, and a prefix", async () => {
    for (let job = 0; job < 5; job += 1) await side.jobHappens();
    await side.connection.nats.jetstream().publish(`${side.prefix}.jobs.acme.odd`, Buffer.of(0xff, 0x0a));
    await side.newSealer().sealNow();
    const text = await readFile(await exported(await readAll(side.sealedLog.messages(0, "all"))), "utf8");
    expect(verifiedLog(text, side.prefix)).to.be.greaterThan(2);
    expect(() => verifiedLog(text.replace("250 2.0.0", "250 2.0.1"), side.prefix)).to.throw();
  });

  it("comes to the same about evidence, before and after one recipient, or all, were erased", async () => {
    const job = newJob("acme");
    const evidenceWith = async (stored: Uint8Array | null): Promise<string> => {
      const contentStore = createMemoryContentStore();
      if (stored !== null) await contentStore.put(job, stored);
      await side.newSealer().sealNow();
      return (await makeEvidence({ ...side, contentStore, now: () => "2026-11-21T10:00:00.000Z" }, job)) ?? "";
    };
    await happen(side.log, job, [
      jobCreated({ total: 2, contentSha256: digestOf(sent) }),
      jobStarted(),
      recipientSent({ recipient: 0 }),
      recipientSent({ recipient: 1 }),
      jobCompleted(),
    ]);
    const whole = await evidenceWith(sent);
    expect(verifiedEvidence(whole)).to.equal(Buffer.from(sent).toString());
    for (const [found, put] of [
      ["250 2.0.0", "250 2.0.1"],
      ["ada@example.com", "eve@example.com"],
    ] as const) {
      expect(() => verifiedEvidence(whole.replace(found, put))).to.throw();
    }
    await happen(side.log, job, [jobContentErased({ recipients: [0], contentSha256: digestOf(left) })]);
    expect(verifiedEvidence(await evidenceWith(left))).to.equal(Buffer.from(left).toString());
    await happen(side.log, job, [jobContentErased()]);
    expect(verifiedEvidence(await evidenceWith(null))).to.equal(null);
  });
});
