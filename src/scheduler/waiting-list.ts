import type { OpenTurn } from "../domain/job/events.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";

/** A turn whose time has come, and the decision that made it wait. */
export type DueTurn = JobRef & {
  readonly turn: OpenTurn;
  readonly cause: { readonly sequence: number; readonly id: string } & Pick<Cause, "correlationId" | "traceparent">;
};

/** The turns that wait for a time, for all processes together. */
export interface WaitingList {
  /**
   * Hands over up to `limit` turns that are due, the longest due first, and deletes each once `queue` resolves. Several
   * processes may call this at once: none waits for another, and none gets a turn that another is queueing. A turn that
   * was handed over and not deleted, because the process died, is handed over again.
   */
  takeDue(limit: number, queue: (due: DueTurn) => Promise<void>): Promise<number>;
}
