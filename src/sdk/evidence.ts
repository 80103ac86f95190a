import { bytesOf, isPublicKey, isSigned, keyIdOf, leafHashOf, rootOfPath, sha256, toHex } from "./bytes.ts";
import { EvidenceRefused } from "./errors.ts";
import {
  type Bundle,
  type Entry,
  type EvidenceCheck,
  type EvidencedEvent,
  readBundle,
  readEvents,
  type Seal,
  type Statement,
} from "./evidence-format.ts";
import { faultsOfParts } from "./evidence-parts.ts";

export type { EvidenceCheck, EvidencedEvent } from "./evidence-format.ts";

export type EvidenceTrust = {
  /**
   * The public keys that you obtained elsewhere: PEM, or its base64. With an empty list any key will do, and the evidence
   * proves only that it was not altered since somebody signed it.
   */
  readonly keys: readonly string[];
  /**
   * Seals that were published elsewhere, such as the lines of SEAL_FILE: those of the bundle must be among them, and no entry
   * that they cover may lack its proof. Ask again for a bundle that was made before the last of them.
   */
  readonly seals?: readonly { readonly to: number; readonly digest: string }[];
};

/** What a bundle proves. */
export type ProvenEvidence = {
  readonly tenant: string;
  /** Of the job or the mailing. */
  readonly jobId: string;
  readonly madeAt: string;
  readonly events: readonly EvidencedEvent[];
  /** What was sent and to whom, as it is stored; null once it was erased, or while it is being erased. */
  readonly content: unknown;
  /** How many entries of the log no seal covers yet: ask again later for evidence that has them sealed. */
  readonly unsealed: number;
  readonly keyIds: readonly string[];
  readonly checks: readonly EvidenceCheck[];
};

/**
 * Checks a bundle of evidence, without a server: its signature, the seals, the place of each entry in the sealed log, and
 * that the content is what the events name. Throws EvidenceRefused, with every check, if one of them fails.
 */
export async function verifyEvidence(bundle: string | Uint8Array, trust: EvidenceTrust): Promise<ProvenEvidence> {
  const keys = trust.keys.map(bareKey);
  const read = readBundle(textOf(bundle) ?? "");
  if (read === null) throw new EvidenceRefused([check(form, ["It was altered, or it is none."])]);
  const { statement, signature } = read;
  const entries = statement.entries.map(readEvents);
  const events = entries.flatMap((entry) => entry.events);
  const used = [...new Set([...statement.seals.map(({ publicKey }) => publicKey), signature.publicKey])];
  const strangers = keys.length === 0 ? [] : used.filter((key) => !keys.includes(key));
  const parts = faultsOfParts(events);
  const checks = [
    check(form, []),
    check("the service signed this bundle as a whole", await faultsOfSignature(read)),
    check("each seal of the log carries its signature", (await Promise.all(statement.seals.map(faultOfSeal))).flat()),
    check("each seal is among those that were published", faultsOfPublished(statement.seals, trust.seals)),
    check("each entry that a published seal covers has its proof", faultsOfUnproven(statement, trust.seals)),
    check("each entry stands in the sealed log as it is shown", await faultsOfProofs(statement)),
    check("the entries are those of this job or mailing, in order", [
      ...entries.flatMap(({ fault }) => fault ?? []),
      ...faultsOfEntries(statement),
    ]),
    check("what was sent, and to whom, is what the events name", await faultsOfContent(statement, events)),
    ...(parts === null ? [] : [check("no part of the mailing is missing", parts)]),
    check("all of it was signed with a trusted key", await Promise.all(strangers.map(nameOfKey))),
  ];
  if (checks.some(({ ok }) => !ok)) throw new EvidenceRefused(checks);
  const { tenant, jobId, madeAt, content } = statement;
  const unsealed = statement.entries.filter(({ proof }) => proof === null).length;
  const keyIds = await Promise.all(used.map(keyIdOf));
  const parsed: unknown = content === null ? null : JSON.parse(content);
  return { tenant, jobId, madeAt, events, content: parsed, unsealed, keyIds, checks };
}

const form = "the file is a bundle of evidence, written as such files are";

const check = (what: string, faults: readonly string[]): EvidenceCheck => ({
  ok: faults.length === 0,
  what,
  detail: faults.slice(0, 20).join(" "),
});

function bareKey(key: string): string {
  const bare = key.replace(/-----(?:BEGIN|END) PUBLIC KEY-----|\s/g, "");
  if (!isPublicKey(bare)) throw new TypeError("A key is no public Ed25519 key; expected its PEM, or the base64 in it.");
  return bare;
}

const nameOfKey = async (key: string): Promise<string> => `Key ${await keyIdOf(key)} is none of them.`;

/** Null for what is not UTF-8. */
function textOf(bundle: string | Uint8Array): string | null {
  if (typeof bundle === "string") return bundle;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bundle);
  } catch {
    return null;
  }
}

async function faultsOfSignature({
  line,
  signature: { keyId, publicKey, signature },
}: Bundle): Promise<readonly string[]> {
  const isGenuine =
    isPublicKey(publicKey) &&
    (await keyIdOf(publicKey)) === keyId &&
    (await isSigned(publicKey, signature, bytesOf(`waybill.evidence.v1\n${line}`)));
  return isGenuine ? [] : [`The signature with key ${keyId} does not fit.`];
}

async function faultOfSeal(seal: Seal): Promise<readonly string[]> {
  const { from, to, count, keyId, publicKey, signature } = seal;
  const text = signedTextOf(seal);
  const isGenuine =
    to >= from &&
    count <= to - from + 1 &&
    isPublicKey(publicKey) &&
    (await keyIdOf(publicKey)) === keyId &&
    (await isSigned(publicKey, signature, bytesOf(text))) &&
    toHex(await sha256(bytesOf(text))) === seal.digest;
  return isGenuine ? [] : [`The seal of events ${from} to ${to} does not hold.`];
}

const signedTextOf = ({ from, to, count, root, previous, sealedAt, publicKey }: Seal): string =>
  `waybill.seal.v1\nfrom ${from}\nto ${to}\ncount ${count}\nroot ${root}\nprevious ${previous ?? "none"}\n` +
  `sealed-at ${sealedAt}\nkey ${publicKey}\n`;

function faultsOfPublished(seals: readonly Seal[], published: EvidenceTrust["seals"]): readonly string[] {
  if (published === undefined) return [];
  const unknown = seals.filter(({ to, digest }) => {
    const same = published.filter((one) => one.to === to);
    // Of two that say different things about the same events, the later one may be of a log that was rewritten.
    return same.length === 0 || same.some((one) => one.digest !== digest);
  });
  return unknown.map(({ from, to }) => `The seal of events ${from} to ${to} is not.`);
}

function faultsOfUnproven({ entries }: Statement, published: EvidenceTrust["seals"] = []): readonly string[] {
  const sealedTo = published.reduce((last, { to }) => Math.max(last, to), 0);
  const unproven = entries.filter(({ sequence, proof }) => proof === null && sequence <= sealedTo);
  return unproven.map(
    ({ sequence }) => `Entry ${sequence} has no proof, and a published seal covers it: ask for the evidence again.`,
  );
}

async function faultsOfProofs({ entries, seals }: Statement): Promise<readonly string[]> {
  const bySequence = new Map(seals.map((seal) => [seal.sequence, seal]));
  const faults = await Promise.all(entries.map((entry) => faultOfProof(entry, bySequence)));
  return faults.filter((fault) => fault !== null);
}

async function faultOfProof(entry: Entry, seals: ReadonlyMap<number, Seal>): Promise<string | null> {
  const { proof, sequence } = entry;
  if (proof === null) {
    const isLate = [...seals.values()].every(({ to }) => sequence > to);
    return isLate ? null : `Entry ${sequence} has no proof, though later entries are sealed.`;
  }
  const seal = seals.get(proof.seal);
  if (seal === undefined) return `Entry ${sequence} names a seal that is not in the bundle.`;
  if (sequence < seal.from || sequence > seal.to) return `Entry ${sequence} is not covered by the seal that it names.`;
  const root = await rootOfPath(await leafHashOf(entry), proof.index, seal.count, proof.path);
  return root === seal.root ? null : `Entry ${sequence}, or its proof, was altered.`;
}

const faultsOfEntries = ({ tenant, jobId, entries }: Statement): readonly string[] =>
  entries.flatMap(({ subject, sequence }, index) => {
    const whole = `${subject}.`;
    const place = `jobs.${tenant}.${jobId}.`;
    // With or without a prefix of the stream.
    const isOwn = whole.startsWith(place) || whole.slice(whole.indexOf(".")).startsWith(`.${place}`);
    if (!isOwn) return [`Entry ${sequence} is not of it.`];
    return sequence > (entries[index - 1]?.sequence ?? 0) ? [] : [`Entry ${sequence} is out of order.`];
  });

async function faultsOfContent({ content }: Statement, events: readonly EvidencedEvent[]): Promise<readonly string[]> {
  const first = events[0];
  const isCreation = first?.type === "JobCreated" || first?.type === "MailingCreated";
  const named = isCreation ? first.data["contentSha256"] : null;
  if (typeof named !== "string") return ["The first event is not the creation of the job or mailing."];
  const erasures = events.filter(({ type }) => type === "JobContentErased" || type === "MailingContentErased");
  if (content === null) return erasures.length > 0 ? [] : ["It is not in the bundle, and no erasure is recorded."];
  const isPartial = erasures.every(({ type, data }) => type === "JobContentErased" && data["recipients"] !== null);
  // An erasure names the digest of the content that it left.
  const left = erasures.length === 0 ? named : erasures.at(-1)?.data["contentSha256"];
  return isPartial && toHex(await sha256(bytesOf(content))) === left ? [] : ["The content was altered."];
}
