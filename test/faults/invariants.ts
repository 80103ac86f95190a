import type { ReceivedMail } from "../support/scripted-smtp.ts";
import { countsOf, type FoldedJob } from "./fold-of-log.ts";
import type { AcceptedJob } from "./load.ts";
import type { RawEvent } from "./log-reader.ts";

/** What a cell left behind once everything had ended. */
export type Remains = {
  readonly jobs: readonly (AcceptedJob & { readonly folded: FoldedJob })[];
  /** Every mail of these jobs that the mail server took responsibility for. */
  readonly mails: readonly ReceivedMail[];
};

/** Mails beyond the first with a Message-ID. */
export const duplicatesAmong = (mails: readonly ReceivedMail[]): number =>
  mails.length - new Set(mails.map(({ messageId }) => messageId)).size;

/** Sentences about what does not hold; none where all does. */
export function violationsIn({ jobs, mails }: Remains): string[] {
  const mailed = new Map<string, Set<string | null>>();
  for (const { to, messageId } of mails) {
    for (const address of to) mailed.set(address, (mailed.get(address) ?? new Set()).add(messageId));
  }
  return jobs.flatMap((job) => [
    ...lifeOf(job.folded),
    ...countersOf(job.folded),
    ...job.recipients.flatMap((address, recipient) => mailOf(job, address, recipient, mailed.get(address))),
  ]);
}

type Job = Remains["jobs"][number];

/** Created once, ended once, and after outages of seconds in no other way than without them. */
function lifeOf({ jobId, creations, ends, status, errorCode }: FoldedJob): string[] {
  return [
    ...(creations === 1 ? [] : [`${jobId} was created ${creations} times`]),
    ...(ends === 1 ? [] : [`${jobId} ended ${ends} times`]),
    ...(status === "completed" ? [] : [`${jobId} is ${status}: ${errorCode}`]),
  ];
}

/** Each recipient has its one outcome, and the event that ended the job counted them as the fold does. */
function countersOf(job: FoldedJob): string[] {
  const counts = countsOf(job);
  const { total, sent, failed, unknown, suppressed, pending, deferred } = counts;
  const isWhole = pending === 0 && deferred === 0 && sent + failed + unknown + suppressed === total;
  const said = job.countsAtEnd as Partial<typeof counts> | null;
  const isSaid = Object.entries(counts).every(([key, value]) => said?.[key as keyof typeof counts] === value);
  return [
    ...(isWhole ? [] : [`${job.jobId} ended with recipients without an outcome: ${JSON.stringify(counts)}`]),
    ...(isSaid ? [] : [`${job.jobId} ended with ${JSON.stringify(said)} where the fold has ${JSON.stringify(counts)}`]),
  ];
}

/** Every sent recipient got its mail, no recipient that was refused for good did, and no other recipient failed. */
function mailOf({ refused, folded }: Job, address: string, recipient: number, arrived = new Set<string | null>()) {
  const outcome = folded.outcomes.get(recipient);
  const ids = folded.lines.filter((line) => line.recipient === recipient && line.messageId !== null);
  const faults: string[] = [];
  if (refused.has(address)) {
    if (arrived.size > 0) faults.push(`${address} was refused for good, and mailed`);
    if (outcome !== "failed") faults.push(`${address} was refused for good, and is recorded as ${outcome}`);
    return faults;
  }
  if (arrived.size === 0) faults.push(`${address} was never mailed (${outcome})`);
  if (arrived.size > 1) faults.push(`${address} was mailed with different Message-IDs`);
  if (outcome !== "sent") faults.push(`${address} is recorded as ${outcome}`);
  if (ids.some(({ messageId }) => !arrived.has(messageId)))
    faults.push(`${address} did not get the mail that was sent`);
  return faults;
}

/** Events that were there before and are not there now to the byte. */
export function changesOf(before: readonly RawEvent[], after: readonly RawEvent[]): string[] {
  const now = new Map(after.map(({ sequence, sha256 }) => [sequence, sha256]));
  return before
    .filter(({ sequence, sha256 }) => now.get(sequence) !== sha256)
    .map(({ sequence, type }) => `event ${sequence}, a ${type}, is ${now.has(sequence) ? "changed" : "gone"}`);
}
