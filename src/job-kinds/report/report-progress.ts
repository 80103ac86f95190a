import type { EventLog } from "../../event-log/event-log.ts";
import { persistently } from "../../event-log/persistently.ts";
import type { HeldTurn } from "../../workers/turn.ts";
import type { ReportRequest } from "./report-source.ts";
import type { ResultFile } from "./result-file.ts";

/** Records in the log how far a file has come: at most once for each piece. */
export type ProgressPublisher = {
  /** Publishes unless it published a moment ago: people watch the progress, but the log keeps each event for ever. */
  publishNowAndThen(): Promise<void>;
  /** Publishes unless nothing is new. */
  publish(): Promise<void>;
};

const publishEveryMs = 1000;

const now = (): string => new Date().toISOString();

export function createProgressPublisher(
  log: EventLog,
  { job, turn, cause }: HeldTurn,
  { of, format }: ReportRequest,
  file: ResultFile,
  patience: AbortSignal,
): ProgressPublisher {
  let publishedAt = Number.NEGATIVE_INFINITY;
  // This attempt does not know what an earlier one has published. Publishing it again changes nothing.
  let published = 0;

  const publish = async (): Promise<void> => {
    const chunks = file.chunks();
    if (chunks === published) return;
    const [rows, bytes, sha256] = [file.rows(), file.bytes(), file.isWhole() ? file.sha256() : null];
    const data = { ...turn, of, format, chunks, rows, bytes, sha256 };
    const id = `${job.jobId}/result/${turn.run}/${chunks}`;
    await persistently(patience, () =>
      log.record(job, [{ ...cause, id, event: { type: "ResultStored", at: now(), data } }]),
    );
    published = chunks;
    publishedAt = performance.now();
  };

  return {
    publish,
    publishNowAndThen: async () => {
      if (performance.now() - publishedAt >= publishEveryMs) await publish();
    },
  };
}
