import type { JobRef } from "../../event-log/event-log.ts";
import type { QueuedTurn } from "../turns.ts";

/** The turns that wait for a time or for their group, for all processes together. */
export interface WaitingList {
  /**
   * Hands over up to `limit` turns that are due, the longest due first, and strikes each off once `put` resolves. Several
   * processes may call this at once: none waits for another, and none gets a turn that another is putting. A turn that
   * was handed over and not struck off, because the process died, is handed over again.
   */
  takeDue(limit: number, put: (due: QueuedTurn) => Promise<void>): Promise<number>;
  /** Makes those turns due again that were struck off, that no worker has begun, and that `isToPut` names. Returns how many. */
  restore(isToPut: (job: JobRef) => boolean): Promise<number>;
}
