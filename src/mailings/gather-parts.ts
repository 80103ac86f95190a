import type { ContentRecipient, JobContent } from "../content/content-store.ts";
import { encodeContent } from "../content/encode-content.ts";
import type { JobKind } from "../job-kinds/job-kind.ts";
import type { AddressSet } from "./address-set.ts";

/** A line that was left out, and why. */
export type LineFault = { readonly line: number; readonly message: string };

/** `lines` is the sum of the others. Of the faults, the first. */
export type ImportCounts = {
  readonly lines: number;
  readonly added: number;
  readonly duplicates: number;
  readonly faulty: number;
  readonly faults: readonly LineFault[];
};

const faultsShown = 100;
/** Around the recipients in the JSON of a content. */
const bracketBytes = 64;

export const keyIn = ({ recipientKey }: JobKind): ((email: string) => string) => recipientKey ?? ((email) => email);

type Counting = ReturnType<typeof createCounting>;

export function createCounting() {
  const counts = { added: 0, duplicates: 0, faulty: 0 };
  const faults: LineFault[] = [];
  return {
    added: (recipients: number): void => {
      counts.added += recipients;
    },
    duplicates: (lines: number): void => {
      counts.duplicates += lines;
    },
    faulty: (fault: LineFault): void => {
      counts.faulty += 1;
      if (faults.length < faultsShown) faults.push(fault);
    },
    /** Faults that show late, in a template, come after those of later lines. */
    counts: (): ImportCounts => ({
      lines: counts.added + counts.duplicates + counts.faulty,
      ...counts,
      faults: [...faults].sort((one, other) => one.line - other.line),
    }),
  };
}

type Gathering = {
  readonly letter: JobContent;
  readonly kind: JobKind;
  readonly maxBytes: number;
  /** How many recipients the part that is being gathered may have. */
  readonly mostOfPart: () => number;
  readonly addresses: AddressSet;
  readonly counting: Counting;
  readonly seal: (content: JobContent) => Promise<void>;
};

type Line = { readonly number: number; readonly recipient: ContentRecipient };

/** Lines with one address. They take no more bytes than the first. */
type SameAddress = { readonly lines: readonly [Line, ...Line[]]; readonly bytes: number };

/** To check a letter takes milliseconds, most of them to read its template: lines that name an address again wait for those of others. */
const mostWaiting = 1000;

/** Gathers the recipients of one part, and seals it when no more fit in. */
export function gatherParts({ letter, kind, maxBytes, mostOfPart, addresses, counting, seal }: Gathering) {
  const keyOfAddress = keyIn(kind);
  const roomForRecipients = maxBytes - encodeContent(letter).length - bracketBytes;
  /** By address; the letter may not be such that it can be filled in for them. */
  const unchecked = new Map<string, SameAddress>();
  /** How many of their lines name an address again. */
  let waiting = 0;
  let checked: ContentRecipient[] = [];
  let bytes = 0;

  /** Of the lines with an address the first counts for which the letter can be filled in. */
  const check = async (): Promise<void> => {
    let asked = [...unchecked.values()].map(({ lines }) => lines);
    unchecked.clear();
    waiting = 0;
    while (asked.length > 0) {
      const faults = await faultsOfLetter(
        letter,
        kind,
        asked.map(([first]) => first),
      );
      const again: SameAddress["lines"][] = [];
      for (const [index, [{ number, recipient }, next, ...others]] of asked.entries()) {
        const message = faults.get(index);
        if (message !== undefined) {
          counting.faulty({ line: number, message });
          if (next !== undefined) again.push([next, ...others]);
          continue;
        }
        addresses.add(keyOfAddress(recipient.email));
        checked.push(recipient);
        counting.added(1);
        counting.duplicates(next === undefined ? 0 : 1 + others.length);
      }
      asked = again;
    }
  };
  const end = async (): Promise<void> => {
    await check();
    const recipients = checked;
    checked = [];
    bytes = 0;
    if (recipients.length > 0) await seal({ ...letter, recipients });
  };

  return {
    take: async (number: number, recipient: ContentRecipient): Promise<void> => {
      const key = keyOfAddress(recipient.email);
      if (addresses.has(key)) return counting.duplicates(1);
      const own = Buffer.byteLength(JSON.stringify(recipient)) + 1;
      const same = unchecked.get(key);
      if (same !== undefined && own <= same.bytes && waiting < mostWaiting) {
        unchecked.set(key, { ...same, lines: [...same.lines, { number, recipient }] });
        waiting += 1;
        return;
      }
      if (same !== undefined) await check();
      if (addresses.has(key)) return counting.duplicates(1);
      if (own > roomForRecipients) {
        const message = `takes ${own} bytes; expected at most ${roomForRecipients}, with this letter`;
        return counting.faulty({ line: number, message });
      }
      if (checked.length + unchecked.size >= mostOfPart() || bytes + own > roomForRecipients) await end();
      unchecked.set(key, { lines: [{ number, recipient }], bytes: own });
      bytes += own;
    },
    end,
  };
}

/**
 * A check finds up to 50 faults, so these are enough for the thousand recipients of a part. It ends with a recipient for whom the
 * letter does too much, after a tenth of a second: further ones of that kind are found when their mails are sent.
 */
const mostChecks = 25;

/** Why the letter cannot be filled in, by the index of the line. Those of one recipient do not hide those of the next. */
async function faultsOfLetter(
  letter: JobContent,
  kind: JobKind,
  lines: readonly Line[],
): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  for (let [checks, before] = [0, -1]; before < found.size && checks < mostChecks; checks += 1) {
    before = found.size;
    const left = lines.map((_, index) => index).filter((index) => !found.has(index));
    const recipients = left.map((index) => (lines[index] as Line).recipient);
    const faults = (await kind.checkContent?.({ ...letter, recipients }, { type: kind.type, recipients })) ?? [];
    for (const { pointer, message } of faults) {
      const index = left[Number(pointer.replace("/recipients/", ""))];
      if (index !== undefined) found.set(index, message.replace(/^recipients\[\d+\] /, ""));
    }
  }
  return found;
}
