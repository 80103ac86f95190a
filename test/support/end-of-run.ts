type CleanUp = () => Promise<void>;

const cleanUps: CleanUp[] = [];

/**
 * For what the tests of a process share: it is done after the last test of a file where files run in parallel, and after
 * the last test of all where they run one after the other, whether they passed or not. A test file with an `await` at its
 * top gets this module a second time, and what it registers is never done: the run would not end.
 */
export function atEndOfRun(cleanUp: CleanUp): void {
  cleanUps.push(cleanUp);
}

/** What was started last ends first. */
export async function endRun(): Promise<void> {
  for (let cleanUp = cleanUps.pop(); cleanUp !== undefined; cleanUp = cleanUps.pop()) await cleanUp();
}

/** Mocha reads these by their name. */
export const mochaHooks = { afterAll: endRun };
