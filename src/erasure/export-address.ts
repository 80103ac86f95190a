import type { ContentStore, JobContent } from "../content/content-store.ts";
import { decodeContent } from "../content/encode-content.ts";
import type { Instant } from "../domain/message.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { findKind } from "../job-kinds/all-job-kinds.ts";

/** What one mailing, or another job, was to the address; the file says of it whatever the read model does. */
type LedgerEntry = { readonly jobId: string; readonly recipient: number; readonly type: string };

type LedgerPage<Cursor> = {
  readonly entries: readonly LedgerEntry[];
  readonly next: Cursor | null;
  readonly readSequence: number;
};

export type LedgerToExport<Cursor> = {
  readonly tenant: string;
  readonly address: string;
  readonly exportedAt: Instant;
  readonly contentStore: Pick<ContentStore, "get">;
  readonly page: (cursor: Cursor | null) => Promise<LedgerPage<Cursor>>;
};

/**
 * Everything that is known of an address, a line of JSON each: what the file is, each mailing with its history and its
 * content as far as that was not erased, and how many there were. A file without its last line is not whole: whatever
 * goes wrong on the way breaks it off. One page and one content are held at a time.
 */
export async function* exportAddress<Cursor>(
  ledger: LedgerToExport<Cursor>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { tenant, address, exportedAt, contentStore, page } = ledger;
  let mailings = 0;
  let current = await page(null);
  yield line({ kind: "recipient", email: address, tenant, exportedAt, readSequence: current.readSequence });
  while (true) {
    for (const entry of current.entries) {
      signal.throwIfAborted();
      const content = await readContent(contentStore, { tenant, jobId: entry.jobId });
      yield line({ kind: "mailing", ...entry, ...contentFor(entry, content) });
      mailings += 1;
    }
    if (current.next === null) break;
    current = await page(current.next);
  }
  yield line({ kind: "end", mailings });
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** Null where it was erased. What goes wrong is logged, so it is said without the words of the parser, who quotes. */
async function readContent({ get }: Pick<ContentStore, "get">, job: JobRef): Promise<JobContent | null> {
  const stored = await get(job);
  try {
    return stored === null ? null : decodeContent(stored);
  } catch {
    throw new Error(`The stored content of job ${job.jobId} cannot be decoded.`);
  }
}

/** Nothing of the other recipients. `content` is what was asked for, `mail` what that made for this recipient. */
function contentFor(entry: LedgerEntry, content: JobContent | null) {
  if (content === null) return { name: null, variables: null, content: null, mail: null };
  // How the job's end is told to others is a secret of theirs, and nothing of the recipient.
  const { recipients, webhookUrl: _, ...shared } = content;
  const { name = null, variables = {} } = recipients[entry.recipient] ?? {};
  return { name, variables, content: shared, mail: mailFor(entry, content) };
}

/** Null for what is no mail, and where none was sent. */
function mailFor({ type, recipient }: LedgerEntry, content: JobContent): object | null {
  const itsRecipient = content.recipients[recipient];
  return (itsRecipient && findKind(type)?.wordsTo?.(content, itsRecipient)) ?? null;
}
