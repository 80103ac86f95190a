import type { ContentRecipient, JobContent } from "../../../content/content-store.ts";
import { type Letters, PartFault, readLetters, type Spent } from "./letters.ts";

/** A fault of the template itself has no recipient: it is the same for all recipients. */
export type LetterFault = { readonly recipient: number | null; readonly fault: PartFault };

/** More faults in one answer are of no use. */
const maxFaults = 50;
/** A thousand mails of the usual size take a tenth of these steps. The limit is a count, so that every machine checks as many. */
const maxSteps = 500_000;
/** Other work of the process waits for this long at most. */
const sliceMs = 15;

/**
 * The faults of a mailing's templates: templates that cannot be read, and recipients whose variables do not fill them in.
 * The check always tries the first recipient, and the others as far as the steps allow; any other recipient is tried when
 * its mail is sent.
 */
export async function checkLetters(content: JobContent): Promise<readonly LetterFault[]> {
  if (content.template === undefined) return [];
  await letOthersRun();
  let letters: Letters;
  try {
    letters = readLetters(content, "");
  } catch (failure) {
    return [{ recipient: null, fault: partFault(failure) }];
  }
  const faults: LetterFault[] = [];
  let steps = 0;
  const spent = (more: number): void => {
    steps += more;
  };
  let turnEnds = performance.now() + sliceMs;
  for (const [recipient, one] of content.recipients.entries()) {
    const fault = one && faultFor(letters, one, content.unsubscribe ? exampleUrl : null, spent);
    if (fault !== null) faults.push({ recipient, fault });
    if (faults.length >= maxFaults || steps > maxSteps || fault?.fault.isOverLimit) break;
    if (performance.now() < turnEnds) continue;
    await letOthersRun();
    turnEnds = performance.now() + sliceMs;
  }
  return faults;
}

const waiting: (() => void)[] = [];

/** Of all checks in the process one goes on at a time, so that other work never waits for the pieces of several. */
const letOthersRun = (): Promise<void> =>
  new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(goOn);
  });

function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}

/** Recipients have no links before the mailing is created. */
const exampleUrl = "https://example.org/unsubscribe";

function faultFor(
  { personalFor }: Letters,
  recipient: ContentRecipient,
  url: string | null,
  spent: Spent,
): PartFault | null {
  try {
    personalFor(recipient, url, spent);
    return null;
  } catch (failure) {
    return partFault(failure);
  }
}

function partFault(failure: unknown): PartFault {
  if (failure instanceof PartFault) return failure;
  throw failure;
}
