import type { Pids } from "./process-usage.ts";

/** A service that mails what is posted to it: Waybill, or a peer behind the same API. */
export type Program = {
  readonly port: number;
  /** Where jobs are posted. */
  readonly path: string;
  /** Every process and server that works for it. */
  readonly pids: Pids;
  /** Waits for so many more jobs to have ended; asked before they are posted. */
  ended(jobs: number): Promise<unknown>;
  /** Waits until everything is written that follows from what has ended. */
  settled(): Promise<void>;
};
