import { createHash } from "node:crypto";
import { type RecipientFile, type RowFault, type Survey, toNdjson } from "./read-recipients.ts";
import { type Asked, type Json, type Service, ServiceRefused } from "./service.ts";

/** The body of POST /api/mailings, except for its metadata. */
export type Letter = Readonly<Record<string, unknown>>;

/** The same letter to the same file at the same time is the same mailing. */
export function mailingKey(
  letter: Letter,
  scheduledAt: string | null,
  file: RecipientFile,
  { sha256 }: Survey,
): string {
  const asked = JSON.stringify([letter, scheduledAt, file.emailColumn, file.delimiter, sha256]);
  return createHash("sha256").update(asked).digest("hex").slice(0, 24);
}

/** The mailing was begun with different content. */
export class MailingChanged extends Error {
  override readonly name = "MailingChanged";
}

export type Created = {
  readonly id: string;
  /** An earlier run of the same command had already created it. */
  readonly isRepeat: boolean;
  /** Where the last decision about it is in the log. */
  readonly sequence: string;
};

type OnWaiting = (reason: string) => void;

const sequenceOf = (headers: Headers): string => headers.get("Event-Sequence") ?? "0";

/** Creates the draft, or finds the one that was created with the same key. */
export async function createMailing(
  service: Service,
  key: string,
  body: Letter,
  onWaiting: OnWaiting,
): Promise<Created> {
  const asked = { method: "POST", body, headers: { "Idempotency-Key": key } } as const;
  try {
    const { headers, body: answer } = await service.askPatiently("/api/mailings", asked, onWaiting);
    const isRepeat = headers.get("Idempotency-Replayed") === "true";
    return { id: answer.mailingId, isRepeat, sequence: sequenceOf(headers) };
  } catch (failure) {
    if (!(failure instanceof ServiceRefused) || failure.code !== "idempotency-key-reused") throw failure;
    throw new MailingChanged("A mailing of this id was begun with another letter or file. Give it another --id.");
  }
}

/** Why a mailing of an earlier run takes no recipients: they are in it. */
const isOver = ["mailing-has-started", "mailing-awaits-approval", "mailing-has-ended"];

export type Imported = {
  readonly added: number;
  readonly duplicates: number;
  readonly faulty: number;
  readonly faults: readonly RowFault[];
  readonly sequence: string;
};

/**
 * Adds the recipients of the file. Each attempt begins at its beginning: what is in the mailing already is not added again.
 * Null where the mailing has been started.
 */
export async function addRecipients(
  service: Service,
  path: string,
  { file, survey }: { readonly file: RecipientFile; readonly survey: Survey },
  onRows: (rows: number) => void,
  onWaiting: OnWaiting,
): Promise<Imported | null> {
  const lines = () => toNdjson(file, survey.sha256, onRows);
  try {
    const asked = { method: "PUT", upload: { type: "application/x-ndjson", open: lines } } as const;
    const { headers, body } = await service.askPatiently(`${path}/recipients`, asked, onWaiting);
    return { ...body, sequence: sequenceOf(headers) };
  } catch (failure) {
    if (!(failure instanceof ServiceRefused) || !isOver.includes(failure.code ?? "")) throw failure;
    return null;
  }
}

export type Started = { readonly mailing: Json; readonly sequence: string };

type Start = Pick<Asked, "beforeAgain"> & { readonly scheduledAt: string | null; readonly sequence: string };

/** Starts the mailing; one that was started before is left as it is, and read with everything up to `sequence` in the log. */
export async function startMailing(
  service: Service,
  path: string,
  { scheduledAt, sequence, beforeAgain }: Start,
  onWaiting: OnWaiting,
): Promise<Started> {
  const body = scheduledAt === null ? {} : { scheduledAt };
  try {
    const answered = await service.askPatiently(`${path}/start`, { method: "POST", body, beforeAgain }, onWaiting);
    return { mailing: answered.body, sequence: sequenceOf(answered.headers) };
  } catch (failure) {
    if (!(failure instanceof ServiceRefused) || !isOver.includes(failure.code ?? "")) throw failure;
    return await readMailing(service, path, sequence, onWaiting);
  }
}

/** The mailing with everything up to that place in the log. */
export async function readMailing(
  service: Service,
  path: string,
  sequence: string,
  onWaiting: OnWaiting,
): Promise<Started> {
  const headers = { "Min-Sequence": sequence };
  const { body } = await service.askPatiently(path, { method: "GET", headers }, onWaiting);
  return { mailing: body, sequence };
}

/** Why a mailing is a draft although it was started: people have decided so. Null where nobody has. */
export async function whyTakenBack(service: Service, path: string, onWaiting: OnWaiting): Promise<string | null> {
  const { body } = await service.askPatiently(`${path}/explain`, { method: "GET" }, onWaiting);
  const found = body.reasons.find(({ code }: Json) => code === "undone" || code === "rejected");
  return found?.message ?? null;
}
