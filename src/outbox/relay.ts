import { Unavailable } from "../domain/unavailable.ts";
import { LogFull } from "../event-log/event-log.ts";
import { maxRequestBytes } from "../intake/check-request.ts";
import { createPollLoop, type PollLoop } from "../poll-loop.ts";
import type { Outbox } from "./outbox.ts";
import { type RelayRowDependencies, relayRow } from "./relay-row.ts";

export type RelayDependencies = RelayRowDependencies & { readonly outbox: Outbox };

export type RelayReports = {
  /** Hears of what is in the way of all rows, on every try. */
  readonly waits: (failure: unknown) => void;
  /** Hears of what broke with one row: a defect of ours. It is tried again by the schedule of rows. */
  readonly rowBroke: (failure: unknown, rowId: string) => void;
};

/** A row becomes a job within this and the time that a job takes to be made. */
const pollEveryMs = 250;
const tenantsAtOnce = 16;
/** Rows are made jobs side by side, and their bytes are in memory at once. */
const share = { rows: 64, bytes: 16 * 1024 * 1024, bytesOfRow: maxRequestBytes };

/**
 * Makes jobs of the rows of the outbox: each exactly once, however many relays there are and however they end, as the
 * job's id derives from the row. While nothing can be accepted rows are left where they are, so that an outage uses up
 * the attempts of those alone that were in hand as it began.
 */
export function createRelay(dependencies: RelayDependencies, { waits, rowBroke }: RelayReports): PollLoop {
  const { outbox, room } = dependencies;
  const poll = async (): Promise<"more" | "done"> => {
    const tenants = await outbox.waiting(tenantsAtOnce);
    if (tenants.length === 0) return "done";
    if (!(await room.isLeftForJobs())) throw new LogFull("There is no room in the log for the jobs of the outbox.");
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
