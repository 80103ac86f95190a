import type { Trust } from "./check.ts";
import type { PassedMessage } from "./passed-messages.ts";
import type { LogReport } from "./verify-log.ts";

/** Null if the log matches its seals. `exportedTo` is its last sequence at the time of the export; null for a live log. */
export function whyNotWhole(report: LogReport, exportedTo: number | null): string | null {
  const { findings, seals, messages, lastSequence } = report;
  if (findings.length > 0) return `The log is not what was sealed: ${counted(findings.length, "finding")}.`;
  if (exportedTo !== null && lastSequence < exportedTo) {
    return `The file ends at ${lastSequence}, and the log had come to ${exportedTo} when it was exported: it was cut off.`;
  }
  return seals === 0 && messages > 0 ? "Nothing of this log is sealed: there is nothing to check it against." : null;
}

/** The report for people. */
export function linesOfLog(report: LogReport, { keys, seals: published }: Trust): readonly string[] {
  const { findings, seals, messages, lastSequence, sealedTo, unsealed, keyIds, passed } = report;
  const unnamed = `with key ${keyIds.join(", ")}. Whether it is the right one was not checked: name it by --key.`;
  return [
    `${counted(messages, "message")}, up to ${lastSequence}. ${counted(seals, "seal")}, up to ${sealedTo}.`,
    ...(unsealed > 0 ? [`Not sealed yet: ${counted(unsealed, "event")} after that. Nothing is known of them.`] : []),
    ...(keyIds.length === 0 ? [] : [keys.length === 0 ? `Signed ${unnamed}` : `Signed with key ${keyIds.join(", ")}.`]),
    ...(published.size > 0 ? [lineOfPublished(report, published)] : []),
    ...passed.map(toPassedLine),
    ...findings.map(({ kind, message }) => `[${kind}] ${message}`),
    ...(findings.length === 0 && seals > 0 ? ["What is here and was sealed is as it was sealed."] : []),
  ];
}

function lineOfPublished({ sealedTo }: LogReport, published: Trust["seals"]): string {
  const to = [...published.keys()].reduce((last, end) => Math.max(last, end), 0);
  const later = "What was sealed after that, the key alone proves: get the seals that were published since.";
  return `Held against ${counted(published.size, "published seal")}, up to ${to}.${sealedTo > to ? ` ${later}` : ""}`;
}

function toPassedLine({ sequence, subject, passedBy, passedAt, reason, holds }: PassedMessage): string {
  const decision = `by ${passedBy} at ${passedAt}: ${reason}`;
  if (holds) return `[passed by] ${sequence} (${subject}), which could not be decoded, ${decision}`;
  return `[passed by] ${sequence}, ${decision}. Another message stands there now: readers stop at it.`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
