import { pause } from "../reading/pause.ts";
import type { BulkAnswer } from "./answers.ts";
import { isPassing, send } from "./client.ts";

/** One action on many things: the path of the call, and what it says besides how far it is. */
export type Bulk = { readonly path: string; readonly body: Readonly<Record<string, unknown>> };

/** What a dry run has counted: the action is about these, and about nothing that came later. */
export type Counted = { readonly asOf: string; readonly matched: number };

export type BulkDone = {
  readonly changed: BulkAnswer["changed"];
  readonly unchanged: number;
  readonly skipped: BulkAnswer["skipped"];
};

export const nothingDone: BulkDone = { changed: [], unchanged: 0, skipped: [] };

export const sumOf = ({ changed, unchanged, skipped }: BulkDone): number => changed.length + unchanged + skipped.length;

export async function countMany({ path, body }: Bulk, signal: AbortSignal): Promise<Counted> {
  const { asOf, matched } = await send<BulkAnswer>("POST", path, { body: { ...body, dryRun: true }, signal });
  return { asOf, matched: matched ?? 0 };
}

const pauseMs = 2000;

/** The service acts; the page repeats the call for as long as the answer has a cursor, and once more where none came. */
export async function actOnAll(
  { path, body }: Bulk,
  { asOf, matched }: Counted,
  signal: AbortSignal,
  onProgress: (done: BulkDone) => void,
): Promise<void> {
  let done = nothingDone;
  let cursor: string | null = null;
  do {
    try {
      const call = { ...body, asOf, expected: matched, ...(cursor === null ? {} : { cursor }) };
      const answer: BulkAnswer = await send<BulkAnswer>("POST", path, { body: call });
      done = {
        changed: [...done.changed, ...answer.changed],
        unchanged: done.unchanged + answer.unchanged,
        skipped: [...done.skipped, ...answer.skipped],
      };
      cursor = answer.nextCursor;
      onProgress(done);
    } catch (failure) {
      if (!isPassing(failure)) throw failure;
      await pause(failure.retryAfterMs ?? pauseMs, signal);
      // The same call again: what was done already is left as it is.
      continue;
    }
    if (cursor === null) return;
  } while (!signal.aborted);
}
