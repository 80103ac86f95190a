import type { EventLog } from "../../event-log/event-log.ts";
import { persistently } from "../../event-log/persistently.ts";
import type { HeldTurn } from "../../workers/turn.ts";
import type { ReportRequest } from "./report-source.ts";
import type { ResultFile } from "./result-file.ts";

/** Tells the log how far a file has come: at most once for each piece. */
export type Teller = {
  /** Unless it was told a moment ago: people watch it, but the log keeps it for ever. */
  tellNowAndThen(): Promise<void>;
  /** Unless there is nothing new to tell. */
  tell(): Promise<void>;
};

const tellEveryMs = 1000;

const now = (): string => new Date().toISOString();

export function createTeller(
  log: EventLog,
  { job, turn, cause }: HeldTurn,
  { of, format }: ReportRequest,
  file: ResultFile,
  patience: AbortSignal,
): Teller {
  let toldAt = Number.NEGATIVE_INFINITY;
  // What an attempt before this one has told is not known here. Told again, it changes nothing.
  let told = 0;

  const tell = async (): Promise<void> => {
    const chunks = file.chunks();
    if (chunks === told) return;
    const [rows, bytes, sha256] = [file.rows(), file.bytes(), file.isWhole() ? file.sha256() : null];
    const data = { ...turn, of, format, chunks, rows, bytes, sha256 };
    const id = `${job.jobId}/result/${turn.run}/${chunks}`;
    await persistently(patience, () =>
      log.record(job, { ...cause, id, event: { type: "ResultStored", at: now(), data } }),
    );
    told = chunks;
    toldAt = performance.now();
  };

  return {
    tell,
    tellNowAndThen: async () => {
      if (performance.now() - toldAt >= tellEveryMs) await tell();
    },
  };
}
