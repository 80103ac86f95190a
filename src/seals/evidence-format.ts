import { type Static, Type } from "typebox";
import { readEnvelopes } from "../event-log/log-message.ts";
import { checkedBy } from "../schemas/checked-by.ts";
import type { CloudEvent } from "../schemas/cloud-event.ts";
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

const entry = data({
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
  /** The last sequence of the log at that time: the bundle holds every entry of the job up to it. */
  logSequence: natural,
  entries: Type.Array(entry, { minItems: 1 }),
  seals: Type.Array(seal),
  /** Content and recipients, as they are stored; null if they were erased, or are being erased. */
  content: orNull(text),
});

const signature = data({ keyId: text, publicKey: text, signature: text });

export type EvidenceStatement = Static<typeof statement>;
export type EvidenceEntry = EvidenceStatement["entries"][number];
export type EvidenceSeal = EvidenceStatement["seals"][number];
export type EvidenceSignature = Static<typeof signature>;

export const checkedStatement = checkedBy(statement);
export const checkedSignature = checkedBy(signature);
export const checkedSealLine = checkedBy(seal);

/** An event as its stored bytes say, in any version of its schema: only what the report shows is read. */
export type EvidencedEvent = {
  readonly sequence: number;
  /** By the clock of NATS. */
  readonly storedAtMs: number;
  readonly id: string;
  readonly type: string;
  readonly time: string;
  readonly actor: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/** Records that what was sent was erased, or some of its recipients. */
export const isErasure = ({ type }: EvidencedEvent): boolean =>
  type === "JobContentErased" || type === "MailingContentErased";

/** Of an erasure: nothing that was sent is left. */
export const erasesAll = ({ type, data }: EvidencedEvent): boolean =>
  type === "MailingContentErased" || data["recipients"] === null;

/** An event whose answer was lost in a long outage is stored once more, as it is: it has happened once. */
export function eachOnce(events: readonly EvidencedEvent[]): readonly EvidencedEvent[] {
  const known = new Set<string>();
  return events.filter(({ id, type, time, actor, data }) => {
    const text = JSON.stringify([id, type, time, actor, data]);
    return !known.has(text) && known.add(text);
  });
}

type Read = { readonly events: readonly EvidencedEvent[]; readonly fault: string | null };

export function readEvidencedEvents({ sequence, storedAt, subject, body }: EvidenceEntry, place: number): Read {
  const name = `Entry ${place + 1} (sequence ${sequence})`;
  try {
    const envelopes = readEnvelopes(Buffer.from(body));
    const other = envelopes.find(({ subject: jobId }) => !`${subject}.`.includes(`.${jobId}.`));
    const fault = other === undefined ? null : `${name} says that it is about ${other.subject}.`;
    const storedAtMs = Number(storedAt) / 1e6;
    return { events: envelopes.map((envelope) => ({ sequence, storedAtMs, ...eventOf(envelope) })), fault };
  } catch {
    return { events: [], fault: `${name} cannot be read as events.` };
  }
}

function eventOf({ id, type, time, actor, data }: CloudEvent): Omit<EvidencedEvent, "sequence" | "storedAtMs"> {
  const members = typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
  return { id, type, time, actor, data: members };
}
