import { setImmediate as letOthersRun } from "node:timers/promises";
import type { ContentRecipient, JobContent } from "../content/content-store.ts";
import { type Letters, PartFault, readLetters } from "./letters.ts";

/** A fault of a template itself has no recipient: it is the same for everybody. */
export type LetterFault = { readonly recipient: number | null; readonly fault: PartFault };

/** More are of no use to anybody in one answer. */
const maxFaults = 50;
/** A thousand mails of the usual size take a fifth of it. */
const budgetMs = 500;
/** For so long nobody else gets a turn. */
const sliceMs = 15;

/**
 * What is wrong with the templates of a mailing: those that cannot be read, and recipients whose variables do not fill
 * them in. The first recipient is always tried, and the others as far as the time goes; who was not, is at the latest
 * when the mail is sent.
 */
export async function checkLetters(content: JobContent): Promise<readonly LetterFault[]> {
  if (content.template === undefined) return [];
  let letters: Letters;
  try {
    letters = readLetters(content, "");
  } catch (failure) {
    return [{ recipient: null, fault: partFault(failure) }];
  }
  const faults: LetterFault[] = [];
  const until = performance.now() + budgetMs;
  let turnEnds = performance.now() + sliceMs;
  for (const [recipient, one] of content.recipients.entries()) {
    const fault = one && faultFor(letters, one, content.unsubscribe ? exampleUrl : null);
    if (fault !== null) faults.push({ recipient, fault });
    const now = performance.now();
    if (faults.length >= maxFaults || now > until || fault?.fault.isOverLimit) break;
    if (now < turnEnds) continue;
    await letOthersRun();
    turnEnds = performance.now() + sliceMs;
  }
  return faults;
}

/** Its recipients have no links yet. */
const exampleUrl = "https://example.org/unsubscribe";

function faultFor({ personalFor }: Letters, recipient: ContentRecipient, url: string | null): PartFault | null {
  try {
    personalFor(recipient, url);
    return null;
  } catch (failure) {
    return partFault(failure);
  }
}

function partFault(failure: unknown): PartFault {
  if (failure instanceof PartFault) return failure;
  throw failure;
}
