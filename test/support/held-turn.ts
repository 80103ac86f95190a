import type { EventLog } from "../../src/event-log/event-log.ts";
import type { Lease } from "../../src/workers/lease.ts";
import { type HeldTurn, replayLedger } from "../../src/workers/turn.ts";
import { job, settings } from "./examples.ts";

/** A lease that no decision ends. */
export const lastingLease: Lease = {
  isHeld: () => true,
  confirm: async () => true,
  confirmLately: async () => true,
  isFree: async () => false,
  onLost: () => {},
  end: () => {},
};

/** The turn of the example job, held since its last decision. */
export async function holdTurn(log: EventLog, total: number, some: Partial<HeldTurn> = {}): Promise<HeldTurn> {
  const decisions = await log.readDecisions(job);
  const readLedger = () => replayLedger(log, job, total, decisions);
  return {
    job,
    turn: { run: 1, attempt: 1 },
    settings: { ...settings, total },
    createdAt: "",
    worker: "worker-1",
    leaseSequence: decisions.at(-1)?.sequence ?? 0,
    cause: { actor: "worker:worker-1", correlationId: null, causationId: null, traceparent: null },
    ledger: await readLedger(),
    confirmedAt: performance.now(),
    readLedger,
    claimed: [],
    isLastAttempt: false,
    deferredUntil: null,
    putOff: 0,
    putOffUntil: new Date(Date.now() + 3_600_000).toISOString(),
    supply: null,
    help: null,
    ...some,
  };
}
