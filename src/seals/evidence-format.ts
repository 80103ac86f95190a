import { type Static, Type } from "typebox";
import { checkedBy } from "../schemas/checked-by.ts";
import { cloudEvent } from "../schemas/cloud-event.ts";
import { data, instant, natural, orNull, positive, sha256 } from "../schemas/event-fields.ts";

export const evidenceFormat = "waybill-evidence/1";

const text = Type.String();

const seal = data({
  sequence: positive,
  sealedAt: instant,
  from: positive,
  to: positive,
  count: positive,
  root: sha256,
  previous: orNull(sha256),
  digest: sha256,
  keyId: text,
  publicKey: text,
  signature: text,
});

/** The position of a message in the tree of its seal; `index` counts from 0. */
const proof = data({ seal: positive, index: natural, path: Type.Array(sha256) });

const event = data({
  sequence: positive,
  storedAt: Type.String({ pattern: "^[0-9]{1,20}$" }),
  /** Visible ASCII, like every subject of Waybill. With a line feed in it, the rest of the subject could pass as part of the body. */
  subject: Type.String({ pattern: "^[!-~]+$" }),
  body: text,
  proof: orNull(proof),
});

const statement = data({
  format: Type.Literal(evidenceFormat),
  tenant: text,
  jobId: text,
  madeAt: instant,
  /** The last sequence of the log at that time: the bundle holds every event of the job up to it. */
  logSequence: natural,
  events: Type.Array(event, { minItems: 1 }),
  seals: Type.Array(seal),
  /** Content and recipients, as they are stored; null if they were erased. */
  content: orNull(text),
});

const signature = data({ keyId: text, publicKey: text, signature: text });

export type EvidenceStatement = Static<typeof statement>;
export type EvidenceEvent = EvidenceStatement["events"][number];
export type EvidenceSeal = EvidenceStatement["seals"][number];
export type EvidenceSignature = Static<typeof signature>;

export const checkedStatement = checkedBy(statement);
export const checkedSignature = checkedBy(signature);
export const checkedSealLine = checkedBy(seal);

/** An event as its stored bytes say, in any version of its schema: only what the report shows is read. */
export type EvidencedEvent = {
  readonly sequence: number;
  readonly type: string;
  readonly time: string;
  readonly actor: string;
  readonly data: Readonly<Record<string, unknown>>;
};

const checkedEnvelope = checkedBy(cloudEvent);

type Read = { readonly event: EvidencedEvent | null; readonly fault: string | null };

export function readEvidencedEvent({ sequence, subject, body }: EvidenceEvent, index: number): Read {
  const name = `Event ${index + 1} (sequence ${sequence})`;
  try {
    const { type, time, actor, data, subject: jobId } = checkedEnvelope(JSON.parse(body));
    const fault = subject.includes(`.${jobId}.`) ? null : `${name} says that it is about ${jobId}.`;
    const members = typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
    return { event: { sequence, type, time, actor, data: members }, fault };
  } catch {
    return { event: null, fault: `${name} cannot be read as an event.` };
  }
}
