import { readJob } from "../../commands/read-version.ts";
import type { ContentStore } from "../../content/content-store.ts";
import { type ResultStore, ResultStoreFull } from "../../content/result-store.ts";
import { loadContent } from "../../content/stored-content.ts";
import { isContentErased } from "../../domain/job/erase-content.ts";
import type { JobError } from "../../domain/job/events.ts";
import { outcomesOf } from "../../domain/job/job-view.ts";
import { Unavailable } from "../../domain/unavailable.ts";
import type { EventLog } from "../../event-log/event-log.ts";
import { UndecodableEvent } from "../../event-log/log-failures.ts";
import { persistently } from "../../event-log/persistently.ts";
import type { JobWork } from "../../workers/job-work.ts";
import type { Lease } from "../../workers/lease.ts";
import type { AttemptEnd, HeldTurn } from "../../workers/turn.ts";
import { chunkLines, linesOf, RowTooLarge } from "./report-lines.ts";
import { createProgressPublisher, type ProgressPublisher } from "./report-progress.ts";
import { type ReportRequest, type ReportSources, type ReportSpan, SourceUnavailable } from "./report-source.ts";
import { openResultFile, type ResultFile } from "./result-file.ts";

export type ReportPorts = {
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly sources: ReportSources;
  readonly results: ResultStore;
};

/** Per process: a report keeps the database busy, and mails go out at the same time. */
const concurrency = 2;

/** A thousand rows or two: a report can be cancelled or paused between two pieces, and holds one piece in memory. */
const usualChunkBytes = 512 * 1024;

/**
 * Writes the rows of a report into a file, piece by piece. A piece is stored before the log names it, never changes, and
 * holds the cursor at which reading continues. The worker that takes over the job continues after the last piece, so that
 * no row is in the file twice and none is missing, whenever a process is killed and whichever other worker writes at the
 * same time.
 */
export const createReportWork = (ports: ReportPorts, chunkBytes = usualChunkBytes): JobWork => ({
  type: "report.export",
  concurrency,
  prepare: async () => ({
    claims: [],
    work: (held, lease, _books, stopping) => writeReport(ports, { held, lease, stopping, chunkBytes }),
  }),
});

async function writeReport(
  ports: ReportPorts,
  { held, lease, stopping, chunkBytes }: Pick<Writing, "held" | "lease" | "stopping" | "chunkBytes">,
): Promise<AttemptEnd> {
  const { contentStore, log, results } = ports;
  try {
    const content = await persistently(stopping, () => loadContent(held, contentStore));
    if ("code" in content) return { kind: "failed", counts: countsOf(held, 0), error: content };
    // The stored content was checked when the job was accepted, and still has the digest that it had then.
    const request = content.payload as ReportRequest;
    const result = { ...held.job, run: held.turn.run };
    const file = await persistently(stopping, () => openResultFile(results, result));
    const publisher = createProgressPublisher(log, held, request, file, stopping);
    const writing = { held, lease, stopping, request, file, publisher, chunkBytes };
    const end = await writeRows(ports, writing).catch(endAfter);
    if (end === "lease-lost") return { kind: end };
    await publisher.publish();
    if (end === "interrupted") return { kind: end };
    return { ...end, counts: countsOf(held, file.rows()) };
  } catch (failure) {
    if (failure instanceof Unavailable && stopping.aborted) return { kind: "interrupted" };
    throw failure;
  }
}

type Writing = {
  readonly held: HeldTurn;
  readonly lease: Lease;
  readonly stopping: AbortSignal;
  readonly request: ReportRequest;
  readonly file: ResultFile;
  readonly publisher: ProgressPublisher;
  readonly chunkBytes: number;
};

/** How the writing ended; the file knows how much was written. */
type End =
  | "lease-lost"
  | "interrupted"
  | { readonly kind: "completed" }
  | { readonly kind: "try-again" | "failed"; readonly error: JobError };

async function writeRows({ log, sources, results }: ReportPorts, writing: Writing): Promise<End> {
  const { held, lease, stopping, request, file, publisher, chunkBytes } = writing;
  const span = await persistently(stopping, () => spanOf(log, held, request));
  const lines = linesOf(request, sources);
  if (!(await lease.confirm())) return "lease-lost";
  if (!file.isWhole() && !(await lines.reaches(span.began.sequence))) {
    throw new SourceUnavailable("It does not know yet of all that was there when the report began.");
  }
  const sizes = { usual: Math.min(chunkBytes, results.maxBytes), most: results.maxBytes };
  while (!file.isWhole()) {
    const head = file.chunks() === 0 ? lines.head : "";
    const pages = lines.read(span, file.cursor(), stopping);
    for await (const chunk of chunkLines(pages, head, file.cursor(), sizes)) {
      if (stopping.aborted) return "interrupted";
      if (!(await lease.confirmLately())) return "lease-lost";
      const isOurs = await persistently(stopping, () => file.append(chunk));
      // Asked after the piece was stored: from now on, an erasure finds it.
      if (!(await lease.confirm())) {
        await persistently(stopping, () => withdrawIfErased(log, results, held, file.chunks() - 1));
        return "lease-lost";
      }
      await publisher.publishNowAndThen();
      // A worker that had the job before has stored another piece: this one reads on after the last row of that piece.
      if (!isOurs) break;
    }
  }
  return { kind: "completed" };
}

/** This process may have stood still while the job ended and was erased: the piece must not outlive that. */
async function withdrawIfErased(
  log: EventLog,
  results: Pick<ResultStore, "erase">,
  { job, turn }: HeldTurn,
  index: number,
): Promise<void> {
  const { state } = await readJob(log, job);
  if (isContentErased(state)) await results.erase({ ...job, run: turn.run }, index);
}

/** A failure that may pass, or one that never will; any other failure breaks the turn off. */
function endAfter(failure: unknown): Exclude<End, string> {
  if (failure instanceof SourceUnavailable) {
    const message = "What the report is read from cannot be asked, or has not come so far yet.";
    return { kind: "try-again", error: { code: "read-model-unavailable", message } };
  }
  if (failure instanceof ResultStoreFull) {
    return { kind: "try-again", error: { code: "result-store-full", message: "There is no room for the file." } };
  }
  if (failure instanceof RowTooLarge) {
    return { kind: "failed", error: { code: "row-too-large", message: failure.message } };
  }
  if (failure instanceof UndecodableEvent) {
    return { kind: "failed", error: { code: "log-undecodable", message: failure.message } };
  }
  throw failure;
}

const countsOf = ({ ledger }: HeldTurn, rows: number): Extract<AttemptEnd, { kind: "completed" }>["counts"] =>
  outcomesOf({ ledger, rows });

/**
 * The first attempt of a run fixes what the report holds, and the log keeps that: all attempts mean the same rows. A job
 * that waited for a time begins at that time, so a report of a future day holds all of the day.
 */
async function spanOf(log: EventLog, { job, turn }: HeldTurn, { from, to }: ReportRequest): Promise<ReportSpan> {
  const decisions = await log.readDecisions(job);
  const started = decisions.find(({ event }) => event.type === "JobStarted" && event.data.run === turn.run);
  if (started === undefined) throw new Error(`Run ${turn.run} of job ${job.jobId} has not begun.`);
  return { tenant: job.tenant, from, to, began: { sequence: started.sequence } };
}
