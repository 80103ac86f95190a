type CleanUp = () => Promise<void>;

const cleanUps: CleanUp[] = [];

/**
 * For what all test files share: it is done once, after the last of them, whether they passed or not. A test file with an
 * `await` at its top gets this module a second time, and what it registers is never done: the run would not end.
 */
export function atEndOfRun(cleanUp: CleanUp): void {
  cleanUps.push(cleanUp);
}

/** Mocha calls this by its name. What was started last ends first. */
export async function mochaGlobalTeardown(): Promise<void> {
  for (let cleanUp = cleanUps.pop(); cleanUp !== undefined; cleanUp = cleanUps.pop()) await cleanUp();
}
