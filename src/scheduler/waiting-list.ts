import type { OpenTurn } from "../domain/job/events.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";

/** A turn whose time has come, and the decision that made it wait. */
export type DueTurn = JobRef & {
  readonly turn: OpenTurn;
  readonly cause: { readonly sequence: number; readonly id: string } & Pick<Cause, "correlationId" | "traceparent">;
};

/** What waits for a time, whichever process asks. */
export interface WaitingList {
  /**
   * Hands over up to `limit` turns that are due, the longest due first, and strikes each off once `queue` resolves.
   * Several may ask at once: none waits for another, and none is handed what another has in hand. What was handed over
   * and not struck off, because the process died, is handed over again.
   */
  takeDue(limit: number, queue: (due: DueTurn) => Promise<void>): Promise<number>;
}
