import type { Instant } from "../domain/message.ts";
import type { ReportSource } from "../domain/recipients/feedback.ts";

/** A report that came by mail and names no mail of ours. It holds no address. */
export type UnattributedReport = {
  readonly receivedAt: Instant;
  readonly source: ReportSource;
  /** `hard-bounce`, `soft-bounce`, `unknown-bounce` or `complaint`. */
  readonly feedback: string;
  readonly diagnostic: string;
  readonly bytes: number;
};

export type KeptReport = UnattributedReport & {
  /** SHA-256 (hex) of the report as it was received: where mails are kept, it is found by this. */
  readonly reportSha256: string;
};

/** Reports that a person may look at, for a month; so many at most. Every method throws Unavailable. */
export interface UnattributedReports {
  /** The same report is kept once. Keeps nothing where there are too many, or they come too fast: anyone can send them. */
  keep(reportSha256: string, report: UnattributedReport): Promise<void>;
  /** The newest first. */
  list(): Promise<readonly KeptReport[]>;
}

const perMinute = 60;
const minuteMs = 60_000;

/** Lets so many through in a minute. */
export function createAllowance(most = perMinute): () => boolean {
  let [begunAt, taken] = [performance.now(), 0];
  return () => {
    if (performance.now() - begunAt >= minuteMs) [begunAt, taken] = [performance.now(), 0];
    taken += 1;
    return taken <= most;
  };
}
