import { foldJobs } from "../../projections/jobs/fold-jobs.ts";
import { type ProjectedJob, toJobRow, toLedgerRow, toProjectedJob } from "../../projections/jobs/rows.ts";
import { isHandled } from "../../projections/projector.ts";
import type { WaitingRow } from "../../projections/waiting/rows.ts";
import { toQueuedTurn } from "../../projections/waiting/waiting-list.ts";
import { type WaitingEvent, waitingRowAfter, waitingTypes } from "../../projections/waiting/waiting-row.ts";
import { foldJobView } from "../../src/domain/job/job-view.ts";
import { endOfBatch } from "../../src/event-log/batches.ts";
import type { OpenJobs } from "../../src/turns/scheduler/missing-turns.ts";
import type { WaitingList } from "../../src/turns/scheduler/waiting-list.ts";
import type { Entry, SharedLog } from "./shared-log.ts";
import type { SimulatedProcess, World } from "./world.ts";

type JobRows = { readonly job: ReturnType<typeof toJobRow>; readonly ledger: ReturnType<typeof toLedgerRow> };

/** What is committed: rows and the checkpoint that they belong to, together or not at all. */
type Tables = {
  checkpoint: number;
  jobs: Map<string, JobRows>;
  waiting: Map<string, WaitingRow>;
};

/** The read models of a world, in tables that lag behind the log, and the scheduler's list of what waits. */
export function createReadSide(world: World, shared: SharedLog) {
  const tables: Tables = { checkpoint: 0, jobs: new Map(), waiting: new Map() };
  const locks = new Map<string, SimulatedProcess>();
  let isProjecting = false;

  const isUpToDate = (): boolean => tables.checkpoint === (shared.entries.at(-1)?.sequence ?? 0);
  const projectSoon = (): void => {
    if (isProjecting) return;
    isProjecting = true;
    world.schedule(world.chance.between(1, 400), () => {
      isProjecting = false;
      projectBatch();
    });
  };
  const projectBatch = (): void => {
    const size = Math.ceil(world.chance.between(0, 12));
    const first = shared.entries.findIndex(({ sequence }) => sequence > tables.checkpoint);
    const batch = first < 0 || size === 0 ? [] : shared.entries.slice(first, endOfBatch(shared.entries, first, size));
    const after = afterBatch(tables, batch);
    const isLocked = batch.some(({ jobId }) => locks.has(jobId));
    // A projector that dies before its commit has done nothing; the next one begins at the same checkpoint.
    if (!isLocked && !world.strikes(0.2)) {
      Object.assign(tables, after);
      for (const fault of differences(tables, shared.entries)) world.violated(fault);
    }
    if (!isUpToDate()) projectSoon();
  };
  shared.onStored.push(projectSoon);

  const unlock = (jobIds: readonly string[]): void => {
    for (const jobId of jobIds) locks.delete(jobId);
  };
  world.onEnd.push((process, how) => {
    if (how === "crashed") unlock([...locks].filter(([, owner]) => owner === process).map(([jobId]) => jobId));
  });

  const lockDue = (process: SimulatedProcess, limit: number): WaitingRow[] => {
    const due = [...tables.waiting.values()].filter((row) => timeOf(row) <= world.nowMs() && !locks.has(row.job_id));
    const rows = due.sort((one, other) => timeOf(one) - timeOf(other)).slice(0, limit);
    for (const { job_id } of rows) locks.set(job_id, process);
    return rows;
  };
  const isFirst = ({ group_sha256, place }: WaitingRow): boolean =>
    group_sha256 === null ||
    [...tables.waiting.values()].every((other) => other.group_sha256 !== group_sha256 || other.place >= place);
  const setHandedOver = (row: WaitingRow, handed_over_at: Date | null): unknown =>
    tables.waiting.set(row.job_id, { ...row, handed_over_at });
  const timeOf = (row: WaitingRow): number =>
    row.due_at !== null && row.handed_over_at === null && isFirst(row)
      ? row.due_at.getTime()
      : Number.POSITIVE_INFINITY;
  const strikeOff = (rows: readonly WaitingRow[], done: readonly string[]): void => {
    const isCommitted = !world.strikes(0.05);
    for (const row of rows) {
      if (isCommitted && done.includes(row.job_id)) setHandedOver(row, new Date(world.nowMs()));
    }
    unlock(rows.map(({ job_id }) => job_id));
  };
  /** A statement of the database in a process; the database itself is never away here. */
  const inDatabase = <Result>(process: SimulatedProcess, statement: () => Result): Promise<Result> =>
    new Promise((resolve) => {
      world.leave(process, () => {
        world.schedule(world.latency(), () => {
          if (process.state === "dead") return;
          const result = statement();
          world.tell(process, world.latency(), () => resolve(result));
        });
      });
    });

  return {
    isUpToDate,
    waitingListOf: (process: SimulatedProcess): WaitingList => ({
      takeDue: async (limit, put) => {
        const rows = await inDatabase(process, () => lockDue(process, limit));
        if (rows.length === 0) return 0;
        const results = await Promise.allSettled(rows.map((row) => put(toQueuedTurn(row))));
        const done = rows.filter((_, index) => results[index]?.status === "fulfilled").map(({ job_id }) => job_id);
        await inDatabase(process, () => strikeOff(rows, done));
        return done.length;
      },
      restore: (isToPut) =>
        inDatabase(process, () => {
          const handedOver = [...tables.waiting.values()].filter(({ handed_over_at }) => handed_over_at !== null);
          const missing = handedOver.filter(({ tenant, job_id: jobId }) => isToPut({ tenant, jobId }));
          for (const row of missing) setHandedOver(row, null);
          return missing.length;
        }),
    }),
    openJobsOf: (process: SimulatedProcess): OpenJobs => ({
      forSome: async (act) => {
        const rows = await inDatabase(process, () => [...tables.jobs.values()].map(({ job }) => job));
        const open = rows.filter(({ status }) => status === "queued" || status === "processing");
        await act(open.map(({ id, tenant }) => ({ tenant, jobId: id })));
      },
    }),
  };
}

function afterBatch({ checkpoint, jobs, waiting }: Tables, batch: readonly Entry[]): Tables {
  const after = { checkpoint: batch.at(-1)?.sequence ?? checkpoint, jobs: new Map(jobs), waiting: new Map(waiting) };
  const before = new Map<string, ProjectedJob>();
  for (const { jobId } of batch) {
    const rows = jobs.get(jobId);
    if (rows !== undefined) before.set(jobId, toProjectedJob(rows.job, rows.ledger, null));
  }
  for (const [jobId, job] of foldJobs(before, batch, new Map()).jobs) {
    after.jobs.set(jobId, { job: toJobRow(job), ledger: toLedgerRow(job) });
  }
  for (const entry of batch) {
    const { jobId } = entry;
    if (!isHandled<WaitingEvent>({ handles: waitingTypes }, entry)) continue;
    const row = waitingRowAfter(after.waiting.get(jobId), entry);
    if (row === undefined) after.waiting.delete(jobId);
    else after.waiting.set(jobId, row);
  }
  return after;
}

/** Where the tables are not what the log says up to their checkpoint. */
function differences({ checkpoint, jobs }: Tables, entries: readonly Entry[]): string[] {
  return [...jobs].flatMap(([jobId, rows]) => {
    const history = entries.filter((entry) => entry.jobId === jobId && entry.sequence <= checkpoint);
    const view = foldJobView(history.map(({ event }) => event));
    const stored = toProjectedJob(rows.job, rows.ledger, null).view;
    return view !== null && textOf(view) === textOf(stored) ? [] : [`the rows of ${jobId} at #${checkpoint} are wrong`];
  });
}

const textOf = (view: NonNullable<ReturnType<typeof foldJobView>>): string =>
  JSON.stringify({ ...view, settings: view.settings.total, ledger: [view.ledger.run, ...view.ledger.cells] });
