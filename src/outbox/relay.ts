import { Unavailable } from "../domain/unavailable.ts";
import { LogFull } from "../event-log/log-failures.ts";
import { maxRequestBytes } from "../intake/check-request.ts";
import { createPollLoop, type PollLoop } from "../process/poll-loop.ts";
import type { Outbox } from "./outbox.ts";
import { type RelayRowDependencies, relayRow } from "./relay-row.ts";

export type RelayDependencies = RelayRowDependencies & {
  readonly outbox: Outbox;
  /** Learns what operators have changed of limits and routes. Throws Unavailable. */
  readonly refreshRules: () => Promise<void>;
};

export type RelayReports = {
  /** Is called on every poll with a failure that blocks all rows. */
  readonly waits: (failure: unknown) => void;
  /** Is called with a failure of one row, which is a defect of Waybill. The row is tried again on its schedule. */
  readonly rowBroke: (failure: unknown, rowId: string) => void;
};

/** The longest time from a row to the creation of its job, while the relay keeps up. */
const pollEveryMs = 250;
const tenantsAtOnce = 16;
/** All rows of a share are relayed concurrently, and their requests are in memory at once. */
const share = { rows: 64, bytes: 16 * 1024 * 1024, bytesOfRow: maxRequestBytes };

/**
 * Creates jobs from the rows of the outbox: each exactly once, however many relays there are and however they end,
 * because the job's id derives from the row. While jobs cannot be accepted, rows are not taken, so an outage uses up
 * attempts only of the rows that were taken when it began.
 */
export function createRelay(dependencies: RelayDependencies, { waits, rowBroke }: RelayReports): PollLoop {
  const { outbox, room, refreshRules } = dependencies;
  const poll = async (): Promise<"more" | "done"> => {
    const tenants = await outbox.waiting(tenantsAtOnce);
    if (tenants.length === 0) return "done";
    if (!(await room.isLeftForJobs())) throw new LogFull("There is no room in the log for the jobs of the outbox.");
    // This process may have stood still: by rules that are out of date, a row would fail for good.
    await refreshRules();
    const { rows, hasMore } = await outbox.take(tenants, share);
    const relayed = await Promise.all(rows.map((row) => relayRow(dependencies, row)));
    await outbox.settle(relayed.map(({ result }) => result));
    const broken = relayed.filter(({ failure }) => failure !== null);
    const outage = broken.find(({ failure }) => isOutage(failure));
    for (const { failure, result } of broken) if (!isOutage(failure)) rowBroke(failure, result.row.id);
    if (outage !== undefined) throw outage.failure;
    return hasMore && rows.length > 0 ? "more" : "done";
  };

  return createPollLoop({ poll, everyMs: pollEveryMs, report: waits });
}

const isOutage = (failure: unknown): boolean => failure instanceof Unavailable || failure instanceof LogFull;
