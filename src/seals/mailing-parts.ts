import { type Check, failed, passed } from "./check.ts";
import type { EvidencedEvent } from "./evidence-format.ts";

/** A part of a mailing as the mailing's own events name it. `counts` are null until it has recorded their end. */
export type EvidencedPart = {
  readonly part: number;
  readonly jobId: string;
  readonly recipients: number;
  readonly contentSha256: string;
  readonly counts: Readonly<Record<string, number>> | null;
};

export type PartIndex = { readonly parts: readonly EvidencedPart[]; readonly faults: readonly string[] };

type Counts = Readonly<Record<string, number>>;

/**
 * The index of a mailing's parts, from its own events: each names where it stands, and the start how many there are, so that
 * a part that is left out or added shows. Null for a job.
 */
export function indexOfParts(events: readonly EvidencedEvent[]): PartIndex | null {
  if (events[0]?.type !== "MailingCreated") return null;
  const parts: EvidencedPart[] = [];
  const faults: string[] = [];
  for (const { sequence, type, data } of events) {
    const fault = (what: string): void => void faults.push(`Event ${sequence}: ${what}.`);
    if (type === "MailingPartsAdded") {
      if (data["first"] !== parts.length) fault(`its first part is ${data["first"]}, and there were ${parts.length}`);
      for (const part of listOf(data["parts"])) parts.push(toPart(part, parts.length));
    } else if (type === "MailingStarted") {
      const recipients = parts.reduce((sum, part) => sum + part.recipients, 0);
      if (data["parts"] !== parts.length || data["recipients"] !== recipients) {
        const found = `${parts.length} with ${recipients} recipients are named`;
        fault(`it was started with ${data["parts"]} parts and ${data["recipients"]} recipients, and ${found}`);
      }
    } else if (type === "MailingPartsEnded") {
      for (const ended of listOf(data["parts"])) {
        const [number, counts] = [Number(ended["part"]), (ended["counts"] ?? {}) as Counts];
        const known = parts[number];
        if (known === undefined) fault(`it is about part ${number}, which is not named`);
        else if (counts["total"] !== known.recipients) fault(`part ${number} ended with another number of recipients`);
        else parts[number] = { ...known, counts };
      }
    } else if (type === "MailingCompleted") {
      const open = parts.filter(({ counts }) => counts === null).map(({ part }) => part);
      if (open.length > 0) fault(`the mailing ended, and not its parts ${open.slice(0, 20).join(", ")}`);
      const sums = Object.entries((data["counts"] ?? {}) as Counts);
      const isOther = ([name, count]: readonly [string, number]): boolean => sumOf(parts, name) !== count;
      if (sums.some(isOther)) fault("the counts of the mailing are not the sum of those of its parts");
    }
  }
  return { parts, faults };
}

/** None for a job. */
export function checkParts(events: readonly EvidencedEvent[]): readonly Check[] {
  const index = indexOfParts(events);
  if (index === null) return [];
  const what = "No part of the mailing is missing from the index, and their counts add up";
  const { parts, faults } = index;
  if (faults.length > 0) return [failed(what, faults.slice(0, 20).join(" "))];
  const isStarted = events.some(({ type }) => type === "MailingStarted");
  return [passed(what, `${parts.length} parts${isStarted ? "" : " so far: it has not started"}.`)];
}

const listOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] => (Array.isArray(value) ? value : []);

const toPart = (data: Readonly<Record<string, unknown>>, part: number): EvidencedPart => ({
  part,
  jobId: String(data["jobId"]),
  recipients: Number(data["recipients"]),
  contentSha256: String(data["contentSha256"]),
  counts: null,
});

const sumOf = (parts: readonly EvidencedPart[], name: string): number =>
  parts.reduce((sum, { counts }) => sum + (counts?.[name] ?? 0), 0);
