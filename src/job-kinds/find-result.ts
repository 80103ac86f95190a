import { foldDecisions } from "../commands/read-version.ts";
import type { ResultRef, ResultStore } from "../content/result-store.ts";
import type { JobState } from "../domain/job/state.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";
import { findKind } from "./all-job-kinds.ts";
import type { FileOfJob, StoredResult } from "./job-kind.ts";

export type FoundResult =
  | { readonly outcome: "found"; readonly result: StoredResult; readonly file: FileOfJob }
  /** The job does not exist, or is of a kind that makes no file. */
  | { readonly outcome: "no-job" | "no-result" }
  | { readonly outcome: "not-completed"; readonly currentStatus: Exclude<JobState["status"], "absent"> }
  /** The file existed once and was erased. */
  | { readonly outcome: "erased" };

/** Finds the file from the log and from the store, without any read model. */
export async function findResult(log: EventLog, results: Pick<ResultStore, "get">, job: JobRef): Promise<FoundResult> {
  const { state } = foldDecisions(await log.readDecisions(job));
  if (state.status === "absent") return { outcome: "no-job" };
  const describe = findKind(state.settings.type)?.file;
  if (describe === undefined) return { outcome: "no-result" };
  if (state.status !== "completed") return { outcome: "not-completed", currentStatus: state.status };
  const result = wholeResult(await log.readHistory(job), state.run);
  // The file is erased from its end: where the last piece exists, all of them do.
  const isThere = result !== null && (await results.get({ ...job, run: result.run }, result.chunks - 1)) !== null;
  return isThere ? { outcome: "found", result, file: describe(result, job.jobId) } : { outcome: "erased" };
}

/** Repeated calls give the same file: what is stored never changes. */
function wholeResult(history: readonly StoredEvent[], run: number): StoredResult | null {
  for (const { event } of history) {
    if (event.type !== "ResultStored" || event.data.run !== run || event.data.sha256 === null) continue;
    return { ...event.data, sha256: event.data.sha256 };
  }
  return null;
}

/** The bytes of a file, piece by piece, each read on demand. Throws where a piece is missing before the end. */
export async function* readResult(
  results: Pick<ResultStore, "get">,
  ref: ResultRef,
  chunks: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < chunks; index += 1) {
    // To end here would look like the end of the file.
    signal.throwIfAborted();
    const chunk = await results.get(ref, index);
    if (chunk === null) throw new Error(`Piece ${index} of the result of job ${ref.jobId} was erased meanwhile.`);
    if (chunk.bytes.length > 0) yield chunk.bytes;
  }
}
