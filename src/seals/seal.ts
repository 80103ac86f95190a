import { hash, sign, verify } from "node:crypto";
import type { LogSealed } from "../domain/log/events.ts";
import { type LogMessage, readEnvelopes } from "../event-log/log-message.ts";
import { checkedBy } from "../schemas/checked-by.ts";
import { events } from "../schemas/events.ts";
import { keyIdOf, type SealKey, toPublicKey } from "./seal-key.ts";

/** A seal with its position in the log. */
export type StoredSeal = LogSealed["data"] & {
  readonly sequence: number;
  readonly sealedAt: string;
};

/** A seal that is not appended yet. */
export type SealDraft = Omit<StoredSeal, "sequence" | "keyId" | "publicKey" | "signature">;

type Stated = SealDraft & Pick<StoredSeal, "publicKey">;

/** What is signed: exactly these lines, each followed by a line feed. */
const statementOf = ({ from, to, count, root, previous, sealedAt, publicKey }: Stated): Buffer =>
  Buffer.from(
    [
      "waybill.seal.v1",
      `from ${from}`,
      `to ${to}`,
      `count ${count}`,
      `root ${root}`,
      `previous ${previous ?? "none"}`,
      `sealed-at ${sealedAt}`,
      `key ${publicKey}`,
      "",
    ].join("\n"),
  );

/** The digest by which the next seal names this one: SHA-256 of the signed text, as hex. */
export const digestOfSeal = (seal: Stated): string => hash("sha256", statementOf(seal), "hex");

export function signSeal(draft: SealDraft, key: SealKey): Omit<StoredSeal, "sequence"> {
  const { keyId, publicKey } = key;
  const signature = sign(null, statementOf({ ...draft, publicKey }), key.privateKey).toString("base64");
  return { ...draft, keyId, publicKey, signature };
}

/** What is wrong with the seal itself, in words for people; null if nothing is. */
export function faultOfSeal(seal: Omit<StoredSeal, "sequence">): string | null {
  const { from, to, count, keyId, publicKey, signature } = seal;
  if (from < 1 || to < from || count < 1 || count > to - from + 1) return "its range makes no sense";
  const key = toPublicKey(publicKey);
  if (key === null || keyIdOf(publicKey) !== keyId) return "its public key is none";
  const bytes = Buffer.from(signature, "base64");
  // Several base64 texts decode to the same bytes: an altered text must not pass.
  if (bytes.toString("base64") !== signature) return "its signature is not written as base64";
  return verify(null, statementOf(seal), key, bytes) ? null : "its signature does not fit what it says";
}

/** A seal as it is served and published; `--seals` reads this format. */
export const toSealAnswer = (seal: StoredSeal) => ({
  sequence: seal.sequence,
  sealedAt: seal.sealedAt,
  from: seal.from,
  to: seal.to,
  count: seal.count,
  root: seal.root,
  previous: seal.previous,
  digest: digestOfSeal(seal),
  keyId: seal.keyId,
  publicKey: seal.publicKey,
  signature: seal.signature,
});

const checkedSeal = checkedBy(events.LogSealed.schema);

/** The subject of seals. It belongs to no tenant, because no tenant's name begins with an underscore. */
const sealSubject = "jobs._service.log.seal";

/** With or without a prefix: all messages of a stream have the same one. */
export const isSealSubject = (subject: string): boolean =>
  subject === sealSubject || subject.endsWith(`.${sealSubject}`);

/** Reads a message on the subject of seals; null if it is not a seal that this release knows. */
export function readSeal({ sequence, body }: Pick<LogMessage, "sequence" | "body">): StoredSeal | null {
  try {
    const [sealed, ...others] = readEnvelopes(body);
    const wanted: LogSealed["type"] = "LogSealed";
    if (sealed?.type !== wanted || others.length > 0) return null;
    return { ...checkedSeal(sealed.data), sequence, sealedAt: sealed.time };
  } catch {
    return null;
  }
}
