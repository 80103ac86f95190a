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
    duplicate: (): void => {
      counts.duplicates += 1;
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

/** Gathers the recipients of one part, and seals it when no more fit in. */
export function gatherParts({ letter, kind, maxBytes, mostOfPart, addresses, counting, seal }: Gathering) {
  const keyOfAddress = keyIn(kind);
  const roomForRecipients = maxBytes - encodeContent(letter).length - bracketBytes;
  /** By address; the letter may not be such that it can be filled in for them. */
  const unchecked = new Map<string, Line>();
  let checked: ContentRecipient[] = [];
  let bytes = 0;

  const check = async (): Promise<void> => {
    const lines = [...unchecked.values()];
    unchecked.clear();
    const faults = await faultsOfLetter(letter, kind, lines);
    for (const [index, { number, recipient }] of lines.entries()) {
      const message = faults.get(index);
      if (message !== undefined) {
        counting.faulty({ line: number, message });
        continue;
      }
      addresses.add(keyOfAddress(recipient.email));
      checked.push(recipient);
    }
    counting.added(lines.length - faults.size);
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
      // Of two lines with an address the first counts, unless the letter cannot be filled in for it.
      if (unchecked.has(key)) await check();
      if (addresses.has(key)) return counting.duplicate();
      const own = Buffer.byteLength(JSON.stringify(recipient)) + 1;
      if (own > roomForRecipients) {
        const message = `takes ${own} bytes; expected at most ${roomForRecipients}, with this letter`;
        return counting.faulty({ line: number, message });
      }
      if (checked.length + unchecked.size >= mostOfPart() || bytes + own > roomForRecipients) await end();
      unchecked.set(key, { number, recipient });
      bytes += own;
    },
    end,
  };
}

/** Why the letter cannot be filled in, by the index of the line. Those of one recipient do not hide those of the next. */
async function faultsOfLetter(
  letter: JobContent,
  kind: JobKind,
  lines: readonly Line[],
): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  for (let before = -1; before < found.size; ) {
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
