/** One thing that was checked about a bundle, and what came of it. */
export type EvidenceCheck = { readonly ok: boolean; readonly what: string; readonly detail: string };

/** An event as its stored bytes say. */
export type EvidencedEvent = {
  readonly sequence: number;
  readonly type: string;
  readonly time: string;
  readonly actor: string;
  readonly data: Readonly<Record<string, unknown>>;
};

export type Entry = {
  readonly sequence: number;
  readonly storedAt: string;
  readonly subject: string;
  readonly body: string;
  readonly proof: { readonly seal: number; readonly index: number; readonly path: readonly string[] } | null;
};

export type Seal = {
  readonly sequence: number;
  readonly sealedAt: string;
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly root: string;
  readonly previous: string | null;
  readonly digest: string;
  readonly keyId: string;
  readonly publicKey: string;
  readonly signature: string;
};

export type Signature = Pick<Seal, "keyId" | "publicKey" | "signature">;

export type Statement = {
  readonly tenant: string;
  readonly jobId: string;
  readonly madeAt: string;
  readonly logSequence: number;
  readonly entries: readonly Entry[];
  readonly seals: readonly Seal[];
  readonly content: string | null;
};

type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === "string";
const matches =
  (pattern: RegExp): Test =>
  (value) =>
    typeof value === "string" && pattern.test(value);
const isFrom =
  (least: number): Test =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least;
const orNull =
  (test: Test): Test =>
  (value) =>
    value === null || test(value);
const listOf =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(test);
/** These members and no others, in this order, as such files are written. */
const members =
  (tests: Readonly<Record<string, Test>>): Test =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.keys(value).join() === Object.keys(tests).join() &&
    Object.entries(value).every(([name, member]) => tests[name]?.(member) === true);

const isDigest = matches(/^[0-9a-f]{64}$/);

const isSeal = members({
  ...{ sequence: isFrom(1), sealedAt: isText, from: isFrom(1), to: isFrom(1), count: isFrom(1), root: isDigest },
  ...{ previous: orNull(isDigest), digest: isDigest, keyId: isText, publicKey: isText, signature: isText },
});

const isEntry = members({
  sequence: isFrom(1),
  storedAt: matches(/^[0-9]{1,20}$/),
  // With a line feed in it, the rest of the subject could pass as part of the body.
  subject: matches(/^[!-~]+$/),
  body: isText,
  proof: orNull(members({ seal: isFrom(1), index: isFrom(0), path: listOf(isDigest) })),
});

const isStatement = members({
  format: (value) => value === "waybill-evidence/1",
  ...{ tenant: isText, jobId: isText, madeAt: isText, logSequence: isFrom(0) },
  entries: (value) => listOf(isEntry)(value) && (value as readonly unknown[]).length > 0,
  ...{ seals: listOf(isSeal), content: orNull(isText) },
});

const isSignature = members({ keyId: isText, publicKey: isText, signature: isText });

export type Bundle = { readonly line: string; readonly statement: Statement; readonly signature: Signature };

/** Null for a text that is not a bundle, byte for byte as such files are written. */
export function readBundle(text: string): Bundle | null {
  const [line = "", second = "", ...rest] = text.split("\n");
  if (rest.length !== 1 || rest[0] !== "") return null;
  try {
    const [statement, signature] = [JSON.parse(line), JSON.parse(second)];
    const isAsWritten = JSON.stringify(statement) === line && JSON.stringify(signature) === second;
    return isAsWritten && isStatement(statement) && isSignature(signature) ? { line, statement, signature } : null;
  } catch {
    return null;
  }
}

type Read = { readonly events: readonly EvidencedEvent[]; readonly fault: string | null };

/** The events of an entry; each says which job it is about. */
export function readEvents({ sequence, subject, body }: Entry): Read {
  const name = `Entry ${sequence}`;
  try {
    const envelopes = JSON.parse(body) as readonly (EvidencedEvent & { readonly subject: unknown })[];
    const isRead = Array.isArray(envelopes) && envelopes.length > 0 && envelopes.every(isEnvelope);
    if (!isRead) return { events: [], fault: `${name} cannot be read as events.` };
    const other = envelopes.find((envelope) => !`${subject}.`.includes(`.${String(envelope.subject)}.`));
    const events = envelopes.map(({ type, time, actor, data }) => ({ sequence, type, time, actor, data: data ?? {} }));
    return { events, fault: other === undefined ? null : `${name} says that it is about ${String(other.subject)}.` };
  } catch {
    return { events: [], fault: `${name} cannot be read as events.` };
  }
}

const isEnvelope = (value: unknown): boolean => {
  const { subject, type, time, actor } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return [subject, type, time, actor].every((member) => typeof member === "string" && member !== "");
};
