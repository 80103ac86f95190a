import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { distinctRecipients, type Recipient, type RecipientFile } from "./read-recipients.ts";
import { type Answered, type Service, ServiceRefused } from "./service.ts";

/** The content for every recipient in the file, as the API accepts it. */
export type Letter = {
  readonly subject: string;
  readonly body: string;
  readonly text?: string;
  readonly from?: string;
  readonly replyTo?: string;
  readonly name?: string;
  readonly priority?: string;
  readonly scheduledAt?: string;
};

export type Mailing = {
  /** Identifies the mailing: each of its jobs is created once, however often the command runs. */
  readonly id: string;
  readonly letter: Letter;
  readonly file: RecipientFile;
};

/** The same letter to the same file is the same mailing. */
export async function mailingId(letter: Letter, file: RecipientFile): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([letter, file.emailColumn, file.delimiter]));
  for await (const bytes of createReadStream(file.path)) hash.update(bytes as Buffer);
  return hash.digest("hex").slice(0, 24);
}

export type Accepted = {
  readonly jobId: string;
  readonly recipients: number;
  /** An earlier run of the same command had already created this job. */
  readonly isRepeat: boolean;
};

/** The mailing was begun with different content. */
export class MailingChanged extends Error {
  override readonly name = "MailingChanged";
}

/**
 * Posts the mailing job by job. The idempotency key of each job consists of the mailing's id and the number of the job,
 * so a mailing that was interrupted anywhere and is sent again creates only the missing jobs.
 */
export async function* sendMailing(
  service: Service,
  { id, letter, file }: Mailing,
  onWaiting: (reason: string) => void,
): AsyncGenerator<Accepted> {
  const bytesAround = Buffer.byteLength(JSON.stringify(letter));
  let number = 0;
  for await (const recipients of toChunks(distinctRecipients(file), bytesAround)) {
    number += 1;
    const body = { ...letter, metadata: { mailing: id, part: String(number) }, recipients };
    const { headers, body: answer } = await postOnce(service, body, `mailing-${id}-${number}`, onWaiting);
    const isRepeat = headers.get("Idempotency-Replayed") === "true";
    yield { jobId: answer.jobId, recipients: recipients.length, isRepeat };
  }
}

async function postOnce(
  service: Service,
  body: unknown,
  key: string,
  onWaiting: (reason: string) => void,
): Promise<Answered> {
  const asked = { method: "POST", body, headers: { "Idempotency-Key": key } } as const;
  try {
    return await service.askPatiently("/api/jobs", asked, onWaiting);
  } catch (failure) {
    if (!(failure instanceof ServiceRefused) || failure.code !== "idempotency-key-reused") throw failure;
    throw new MailingChanged("A mailing of this id was begun with another letter or file. Give it another --id.");
  }
}

/** The most recipients of one job. */
const mostRecipients = 1000;
/** A job may have one megabyte in NATS; the rest is for what is stored beside the recipients. */
const mostBytes = 900_000;

/**
 * Cuts a mailing into jobs, in the order of the file. The same recipients are cut the same way every time, so that an
 * interrupted mailing continues where it stopped.
 */
async function* toChunks(
  recipients: AsyncIterable<Recipient>,
  bytesAround: number,
): AsyncGenerator<readonly Recipient[]> {
  let chunk: Recipient[] = [];
  let bytes = bytesAround;
  for await (const recipient of recipients) {
    const size = Buffer.byteLength(JSON.stringify(recipient)) + 1;
    if (chunk.length > 0 && (chunk.length === mostRecipients || bytes + size > mostBytes)) {
      yield chunk;
      chunk = [];
      bytes = bytesAround;
    }
    chunk.push(recipient);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}
