import type { StoredEvent, WaybillEvent } from "../event-log/event-log.ts";
import type { Tail } from "./tail.ts";
import { createWake } from "./wake.ts";

export type Heard = {
  readonly events: readonly StoredEvent<WaybillEvent>[];
  /** So far the tenant's events are among those that were taken. */
  readonly position: number;
};

/** What one feed has heard and not yet taken. It is bounded: a client that does not keep up reads from the log instead. */
export type Seat = {
  /** What has come since the last call; nothing where the time was up, the signal came, or the seat is lost. */
  next(waitMs: number): Promise<Heard>;
  /** Something came that the seat had no room for: take what is there, then begin anew. */
  isLost(): boolean;
  leave(): void;
};

const maxHeard = 1000;

/** `next` throws what broke the tail. */
export async function takeSeat(tail: Tail, tenant: string, signal: AbortSignal): Promise<Seat> {
  const wake = createWake(signal);
  let heard: StoredEvent<WaybillEvent>[] = [];
  let isLost = false;
  let failure: unknown = null;
  const leave = await tail.listen(
    { tenant, jobId: null },
    {
      hear: (entry) => {
        isLost ||= heard.length >= maxHeard;
        if (!isLost) heard.push(entry);
        wake.ring();
      },
      broken: (reason) => {
        failure = reason;
        wake.ring();
      },
    },
  );
  return {
    next: async (waitMs) => {
      if (heard.length === 0 && !isLost && failure === null) await wake.sleep(waitMs);
      if (heard.length === 0 && failure !== null) throw failure;
      const events = heard;
      heard = [];
      return { events, position: isLost ? (events.at(-1)?.sequence ?? 0) : tail.position() };
    },
    isLost: () => isLost,
    leave,
  };
}
