import { dirname } from "node:path";
import type { Context } from "mocha";

type CleanUp = () => Promise<void>;

const ofRun: CleanUp[] = [];
const ofFolder: CleanUp[] = [];

/** Of the files that this process ran last. */
let folder: string | null = null;

/**
 * For what the tests of a process share: it is done after the last test of a file where files run in parallel, and after
 * the last test of all where they run one after the other, whether they passed or not. A test file with an `await` at its
 * top gets this module a second time, and what it registers is never done: the run would not end.
 */
export function atEndOfRun(cleanUp: CleanUp): void {
  ofRun.push(cleanUp);
}

/**
 * For what takes long to start, and serves all files of a folder: where files run in parallel it is done before the first
 * file of another folder. A process that ends first takes with it what it has; nothing may be left outside of it.
 */
export function atEndOfFolder(cleanUp: CleanUp): void {
  ofFolder.push(cleanUp);
}

/** Whether something is left for the next file of the folder. */
export const isSharedByFolder = (): boolean => ofFolder.length > 0;

/** What was started last ends first. */
export async function endRun(): Promise<void> {
  await doAll(ofFolder);
  await doAll(ofRun);
}

async function doAll(cleanUps: CleanUp[]): Promise<void> {
  for (let cleanUp = cleanUps.pop(); cleanUp !== undefined; cleanUp = cleanUps.pop()) await cleanUp();
}

/** The test file whose first or last hook this is; undefined where files run one after the other. */
export function fileOf(context: Context): string | undefined {
  return runsFilesInParallel() ? context.test?.parent?.suites[0]?.file : undefined;
}

/** Mocha sets this in each process that runs files of a parallel run. */
const runsFilesInParallel = (): boolean => process.env["MOCHA_WORKER_ID"] !== undefined;

/** Mocha reads these by their name. */
export const mochaHooks = {
  async beforeAll(this: Context): Promise<void> {
    const file = fileOf(this);
    if (file === undefined || dirname(file) === folder) return;
    folder = dirname(file);
    await doAll(ofFolder);
  },
  afterAll: () => (runsFilesInParallel() ? doAll(ofRun) : endRun()),
};
