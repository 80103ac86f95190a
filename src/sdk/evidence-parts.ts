import type { EvidencedEvent } from "./evidence-format.ts";

type Data = Readonly<Record<string, unknown>>;
type Counts = Readonly<Record<string, number>>;
type Part = { readonly recipients: number; counts: Counts | null };

/**
 * Why the parts that a mailing's own events name are not all of them, or not as many as it says; null for a job. Each event
 * names where its parts stand, and the start how many there are, so that a part that is left out or added shows.
 */
export function faultsOfParts(events: readonly EvidencedEvent[]): readonly string[] | null {
  if (events[0]?.type !== "MailingCreated") return null;
  const parts: Part[] = [];
  return events.flatMap((event) => faultsOf(event, parts).map((fault) => `Event ${event.sequence}: ${fault}.`));
}

function faultsOf({ type, data }: EvidencedEvent, parts: Part[]): readonly string[] {
  switch (type) {
    case "MailingPartsAdded": {
      const before = parts.length;
      for (const { recipients } of listOf(data["parts"])) parts.push({ recipients: Number(recipients), counts: null });
      return data["first"] === before ? [] : [`its first part is ${data["first"]}, and there were ${before}`];
    }
    case "MailingStarted": {
      const isWhole = data["parts"] === parts.length && data["recipients"] === sumOf(parts, (part) => part.recipients);
      return isWhole ? [] : ["it was started with other parts or recipients than are named"];
    }
    case "MailingPartsEnded":
      return listOf(data["parts"]).flatMap((ended) => faultsOfEnd(ended, parts));
    case "MailingCompleted": {
      const open = parts.filter(({ counts }) => counts === null).length;
      const sums = Object.entries((data["counts"] ?? {}) as Counts);
      const isOther = sums.some(([name, count]) => sumOf(parts, ({ counts }) => counts?.[name] ?? 0) !== count);
      return [
        ...(open === 0 ? [] : [`the mailing ended, and ${open} of its parts did not`]),
        ...(isOther ? ["the counts of the mailing are not the sum of those of its parts"] : []),
      ];
    }
    default:
      return [];
  }
}

function faultsOfEnd(ended: Data, parts: Part[]): readonly string[] {
  const counts = (ended["counts"] ?? {}) as Counts;
  const known = parts[Number(ended["part"])];
  if (known === undefined) return [`it is about part ${String(ended["part"])}, which is not named`];
  if (counts["total"] !== known.recipients) return [`part ${String(ended["part"])} ended with other recipients`];
  known.counts = counts;
  return [];
}

const listOf = (value: unknown): readonly Data[] => (Array.isArray(value) ? value : []);

const sumOf = (parts: readonly Part[], of: (part: Part) => number): number =>
  parts.reduce((sum, part) => sum + of(part), 0);
