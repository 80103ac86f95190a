import { verify } from "node:crypto";
import { digestOf } from "../content/encode-content.ts";
import { leafHashOf } from "../event-log/log-message.ts";
import { type Check, failed, passed, type Trust } from "./check.ts";
import { checkPublished } from "./check-published.ts";
import { signedBytesOf } from "./evidence.ts";
import {
  checkedSignature,
  checkedStatement,
  type EvidencedEvent,
  type EvidenceEntry,
  type EvidenceSeal,
  type EvidenceSignature,
  type EvidenceStatement,
  eachOnce,
  erasesAll,
  isErasure,
  readEvidencedEvents,
} from "./evidence-format.ts";
import { checkParts } from "./mailing-parts.ts";
import { rootOfPath } from "./merkle.ts";
import { digestOfSeal, faultOfSeal } from "./seal.ts";
import { keyIdOf, toPublicKey } from "./seal-key.ts";

export type EvidenceReport = {
  readonly checks: readonly Check[];
  /** Null if the file could not be read as a bundle at all. */
  readonly statement: EvidenceStatement | null;
  readonly events: readonly EvidencedEvent[];
  readonly keyId: string | null;
  /** Ids of the keys that signed it or its seals and that the reader, who named others, did not name. */
  readonly unnamedKeyIds: readonly string[];
};

/** Makes every check, even after one has failed; needs nothing but the bundle. */
export function verifyEvidence(bytes: Uint8Array, trust: Trust): EvidenceReport {
  const { statement, signature, line, checks } = readBundle(bytes);
  if (statement === null) return { checks, statement, events: [], keyId: null, unnamedKeyIds: [] };
  const sealsBySequence = new Map(statement.seals.map((seal) => [seal.sequence, seal]));
  const read = statement.entries.map(readEvidencedEvents);
  const stored = read.flatMap((entry) => entry.events);
  const events = eachOnce(stored);
  const unnamedKeyIds = unnamedKeysOf(statement, signature, trust).map(keyIdOf);
  return {
    statement,
    events,
    keyId: signature?.keyId ?? null,
    unnamedKeyIds,
    checks: [
      ...checks,
      checkSignature(line, signature),
      checkSeals(statement.seals),
      ...checkPublished(statement, trust),
      checkProofs(statement.entries, sealsBySequence),
      checkJob(
        statement,
        read.map(({ fault }) => fault),
        stored.length - events.length,
      ),
      checkContent(statement, events),
      ...checkParts(events),
      ...checkTrust(unnamedKeyIds, trust),
    ],
  };
}

type Bundle = {
  readonly statement: EvidenceStatement | null;
  readonly signature: EvidenceSignature | null;
  readonly line: string;
  readonly checks: readonly Check[];
};

const form = "The file is a bundle of evidence, written as such files are";

function readBundle(bytes: Uint8Array): Bundle {
  const text = Buffer.from(bytes).toString("utf8");
  const [line = "", second = "", ...rest] = text.split("\n");
  const nothing = { statement: null, signature: null, line };
  try {
    if (!Buffer.from(text).equals(bytes)) return { ...nothing, checks: [failed(form, "It is not written in UTF-8.")] };
    const statement = checkedStatement(JSON.parse(line));
    const { signature, fault } = readSignature(second);
    const written = `${JSON.stringify(statement)}\n${JSON.stringify(signature)}\n`;
    const isAsWritten = rest.length === 1 && written === text;
    const where = fault ?? (isAsWritten ? null : `It was altered at byte ${firstDifference(written, text)}.`);
    return { statement, signature, line, checks: [where === null ? passed(form, "") : failed(form, where)] };
  } catch (failure) {
    return { ...nothing, checks: [failed(form, whyNoStatement(text, line, failure))] };
  }
}

/** A file that holds the refusal of a request for evidence is a common mistake: curl writes it as it writes a bundle. */
function whyNoStatement(text: string, line: string, failure: unknown): string {
  if (text === "") return "It is empty.";
  const refusal = refusalIn(line);
  if (refusal !== null) return `It is an error that the service answered instead of a bundle: ${refusal}`;
  return `Its first line cannot be read: ${messageOf(failure)}`;
}

function refusalIn(line: string): string | null {
  try {
    const { type, detail } = JSON.parse(line);
    return String(type).startsWith("urn:waybill:problem:") && typeof detail === "string" ? detail : null;
  } catch {
    return null;
  }
}

function readSignature(line: string): { readonly signature: EvidenceSignature | null; readonly fault: string | null } {
  try {
    return { signature: checkedSignature(JSON.parse(line)), fault: null };
  } catch (failure) {
    return { signature: null, fault: `Its second line, the signature, cannot be read: ${messageOf(failure)}` };
  }
}

const messageOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure));

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return Buffer.byteLength(one.slice(0, at));
}

function checkSignature(line: string, signature: EvidenceSignature | null): Check {
  const what = "The service signed this bundle as a whole, so nothing was left out or added later";
  const key = signature === null ? null : toPublicKey(signature.publicKey);
  if (signature === null || key === null) return failed(what, "There is no signature that could be checked.");
  const bytes = Buffer.from(signature.signature, "base64");
  const isWhole = bytes.toString("base64") === signature.signature && keyIdOf(signature.publicKey) === signature.keyId;
  if (isWhole && verify(null, signedBytesOf(line), key, bytes))
    return passed(what, `Signed with key ${signature.keyId}.`);
  return failed(
    what,
    `The signature with key ${signature.keyId} does not fit: the first line or the signature was altered.`,
  );
}

function checkSeals(seals: readonly EvidenceSeal[]): Check {
  const what = "Each seal of the log in the bundle carries its signature";
  const faults = seals.flatMap((seal) => {
    const fault = faultOfSeal(seal) ?? (digestOfSeal(seal) === seal.digest ? null : "its digest is not its own");
    return fault === null ? [] : [`The seal of events ${seal.from} to ${seal.to}: ${fault}.`];
  });
  return faults.length === 0 ? passed(what, `${seals.length} of them.`) : failed(what, faults.join(" "));
}

function checkProofs(entries: readonly EvidenceEntry[], seals: ReadonlyMap<number, EvidenceSeal>): Check {
  const what = "Each entry stands in the sealed log exactly as it is shown here";
  const faults = entries.flatMap((entry, index) => {
    const fault = faultOfProof(entry, seals);
    return fault === null ? [] : [`Entry ${index + 1} of the bundle (sequence ${entry.sequence}): ${fault}.`];
  });
  if (faults.length > 0) return failed(what, faults.slice(0, 20).join(" "));
  const unsealed = entries.filter(({ proof }) => proof === null).length;
  const sealed = `${entries.length - unsealed} of ${entries.length} entries are sealed.`;
  return passed(what, unsealed === 0 ? sealed : `${sealed} ${unsealed} not yet: ask for the evidence again later.`);
}

function faultOfProof(entry: EvidenceEntry, seals: ReadonlyMap<number, EvidenceSeal>): string | null {
  const { proof, sequence } = entry;
  if (proof === null) {
    const isLate = [...seals.values()].every(({ to }) => sequence > to);
    return isLate ? null : "it has no proof, though later entries are sealed";
  }
  const seal = seals.get(proof.seal);
  if (seal === undefined) return `the bundle has no seal ${proof.seal}, which it names`;
  if (sequence < seal.from || sequence > seal.to)
    return `it is outside of the seal's range, ${seal.from} to ${seal.to}`;
  const leaf = leafHashOf({ ...entry, body: Buffer.from(entry.body) });
  const path = proof.path.map((node) => Buffer.from(node, "hex"));
  const root = rootOfPath(leaf, proof.index, seal.count, path)?.toString("hex");
  return root === seal.root ? null : "it or its proof was altered: it does not lead to what was sealed";
}

function checkJob(
  { tenant, jobId, entries }: EvidenceStatement,
  faults: readonly (string | null)[],
  repeated: number,
): Check {
  const what = "The entries are those of this job or mailing, in the order in which they were stored";
  const strange = entries.flatMap(({ subject, sequence }, index) => {
    if (!isOf(subject, tenant, jobId))
      return [`Entry ${index + 1} (sequence ${sequence}) is not of this job or mailing.`];
    const before = entries[index - 1]?.sequence ?? 0;
    return sequence > before ? [] : [`Entry ${index + 1} (sequence ${sequence}) stands after ${before}.`];
  });
  const all = [...faults.filter((fault) => fault !== null), ...strange];
  if (all.length > 0) return failed(what, all.slice(0, 20).join(" "));
  const twice = ` Events that were stored once more, as an answer was lost, and are told once: ${repeated}.`;
  return passed(what, `${entries.length} entries.${repeated > 0 ? twice : ""}`);
}

function isOf(subject: string, tenant: string, jobId: string): boolean {
  const [first, second] = [`jobs.${tenant}.${jobId}.`, `.jobs.${tenant}.${jobId}.`];
  const whole = `${subject}.`;
  return whole.startsWith(first) || whole.slice(whole.indexOf(".")).startsWith(second);
}

function checkContent({ content }: EvidenceStatement, events: readonly EvidencedEvent[]): Check {
  const what = "What was sent, and to whom, is what the events name by its digest";
  const [first] = events;
  const isCreation = first?.type === "JobCreated" || first?.type === "MailingCreated";
  const named = isCreation ? first.data["contentSha256"] : null;
  if (typeof named !== "string") return failed(what, "The first event is not the creation of the job or mailing.");
  const erasures = events.filter(isErasure);
  const last = erasures.at(-1);
  const erased = erasures.map(({ time, actor, sequence }) => ` at ${time} by ${actor} (event ${sequence})`).join(",");
  if (content === null) {
    if (last === undefined) return failed(what, "It is not in the bundle, and no erasure is recorded.");
    if (erasures.some(erasesAll)) return passed(what, `It was erased${erased}; its SHA-256 was ${named}.`);
    // The service shows nothing until it has overwritten the recipients.
    const rest = "The rest is not in the bundle: ask for the evidence again.";
    return passed(what, `Recipients were erased${erased}; SHA-256 ${named} before. ${rest}`);
  }
  if (last === undefined) {
    return digestOf(content) === named ? passed(what, `SHA-256 ${named}.`) : failed(what, "The content was altered.");
  }
  // The event of an erasure names the digest of the content that it left.
  if (!erasures.some(erasesAll) && digestOf(content) === last.data["contentSha256"]) {
    return passed(what, `Recipients were erased${erased}; SHA-256 ${named} before, ${digestOf(content)} since.`);
  }
  return failed(what, "The content was altered.");
}

function unnamedKeysOf(
  { seals }: EvidenceStatement,
  signature: EvidenceSignature | null,
  { keys }: Trust,
): readonly string[] {
  if (keys.length === 0) return [];
  const used = [...new Set([...seals.map(({ publicKey }) => publicKey), signature?.publicKey ?? ""])];
  return used.filter((key) => !keys.includes(key));
}

function checkTrust(unnamed: readonly string[], { keys }: Trust): readonly Check[] {
  if (keys.length === 0) return [];
  const what = "All of it was signed with a key that you know from elsewhere";
  const found = unnamed.length === 0 ? passed(what, "") : failed(what, `You did not name key ${unnamed.join(", ")}.`);
  return [{ ...found, isOfSigner: true }];
}
