import { hash, sign, verify } from "node:crypto";
import type { LogSealed } from "../domain/log/events.ts";
import type { LogMessage } from "../event-log/log-message.ts";
import { checkedBy } from "../schemas/checked-by.ts";
import { cloudEvent } from "../schemas/cloud-event.ts";
import { events } from "../schemas/events.ts";
import { keyIdOf, type SealKey, toPublicKey } from "./seal-key.ts";

/** A seal where it stands in the log. */
export type StoredSeal = LogSealed["data"] & {
  readonly sequence: number;
  readonly sealedAt: string;
};

/** A seal that is still to be appended. */
export type SealDraft = Omit<StoredSeal, "sequence" | "keyId" | "publicKey" | "signature">;

type Stated = SealDraft & Pick<StoredSeal, "publicKey">;

/** What is signed: these lines and no others, each with a line feed behind it. */
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

/** By which the next seal names this one: SHA-256 of what is signed, as hex. */
export const digestOfSeal = (seal: Stated): string => hash("sha256", statementOf(seal), "hex");

export function signSeal(draft: SealDraft, key: SealKey): Omit<StoredSeal, "sequence"> {
  const { keyId, publicKey } = key;
  const signature = sign(null, statementOf({ ...draft, publicKey }), key.privateKey).toString("base64");
  return { ...draft, keyId, publicKey, signature };
}

/** What is wrong with a seal by itself, for people; null where nothing is. */
export function faultOfSeal(seal: Omit<StoredSeal, "sequence">): string | null {
  const { from, to, count, keyId, publicKey, signature } = seal;
  if (from < 1 || to < from || count < 1 || count > to - from + 1) return "its range makes no sense";
  const key = toPublicKey(publicKey);
  if (key === null || keyIdOf(publicKey) !== keyId) return "its public key is none";
  const bytes = Buffer.from(signature, "base64");
  // Other texts stand for the same bytes: one that was altered must not pass.
  if (bytes.toString("base64") !== signature) return "its signature is not written as base64";
  return verify(null, statementOf(seal), key, bytes) ? null : "its signature does not fit what it says";
}

/** As it is served, published and kept by people: what `--seals` reads. */
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

const checkedEnvelope = checkedBy(cloudEvent);
const checkedSeal = checkedBy(events.LogSealed.schema);

/** Where seals stand: nothing there is a tenant's, as no tenant's name begins so. */
const sealSubject = "jobs._service.log.seal";

/** Whatever the prefix of the log is: a stream has one for all that it holds. */
export const isSealSubject = (subject: string): boolean =>
  subject === sealSubject || subject.endsWith(`.${sealSubject}`);

/** A message on the subject of seals as what it says; null where that is no seal of this release. */
export function readSeal({ sequence, body }: Pick<LogMessage, "sequence" | "body">): StoredSeal | null {
  try {
    const { type, time, data } = checkedEnvelope(JSON.parse(Buffer.from(body).toString()));
    const wanted: LogSealed["type"] = "LogSealed";
    return type === wanted ? { ...checkedSeal(data), sequence, sealedAt: time } : null;
  } catch {
    return null;
  }
}
