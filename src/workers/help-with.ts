import { foldDecisions } from "../commands/read-version.ts";
import { cell, emptyLedger, type Ledger } from "../domain/recipients/ledger.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";
import { persistently } from "../event-log/persistently.ts";
import { createBookkeeper, type Unwritten } from "./bookkeeper.ts";
import type { HelpAnswer, HelpDone, HelpExchange, HelpRequest, HelpWanted } from "./help.ts";
import { type JobWork, notNow, type SpareConnections } from "./job-work.ts";
import { watchLease } from "./lease.ts";
import { patienceOf } from "./patience.ts";
import { noOthers, type Supply } from "./supply.ts";
import { type HeldTurn, replayLedger } from "./turn.ts";

export type HelpDependencies = {
  readonly log: EventLog;
  readonly exchange: HelpExchange;
  readonly worker: string;
  /** The connections of the process that no turn of its own needs. */
  readonly connections: SpareConnections;
  /** Shared by all that the process does. */
  readonly unwritten: Unwritten;
  readonly prepare: JobWork["prepare"];
  /** No other help has this id. */
  readonly id: string;
  /** Aborts when the process is to stop. */
  readonly stopping: AbortSignal;
  /** Aborts when the process stops, whatever is left to record. */
  readonly giveUp: AbortSignal;
};

/** An answer may get lost, and so may the question. */
const questions = 2;

/**
 * Serves recipients of a job whose lease another worker holds, group after group, until that one has no more for it, or a
 * turn of this worker wants the connections. The holder names recipients and its lease; all else is read from the
 * decisions about the job, which must end with that lease.
 *
 * What the helper leaves behind is outcomes in the log, and no claim; if it cannot do that, it says so. While it has not
 * said that it is done, and may still be asked to be, it answers for the job as its holder does.
 */
export async function helpWith(wanted: HelpWanted, dependencies: HelpDependencies): Promise<void> {
  const { exchange, worker, id, giveUp } = dependencies;
  const { tenant, jobId } = wanted;
  const from = { tenant, jobId, helper: worker, help: id };
  const ask = async (request: HelpRequest): Promise<HelpAnswer | null> => {
    for (let asked = 0; asked < questions && !giveUp.aborted; asked += 1) {
      const answer = await exchange.request(wanted.worker, request);
      if (answer !== null) return answer;
    }
    return null;
  };
  const grants: Grants = { parts: 0, recipients: [], ledger: null };
  const more = async (): Promise<HelpAnswer | null> => {
    const answer = await ask({ kind: "more", ...from, part: grants.parts });
    if (answer === null) return null;
    grants.parts += 1;
    grants.recipients.push(...answer.recipients);
    return answer;
  };
  const first = await more();
  if (first?.recipients.length === 0) return;
  try {
    if (first !== null) await serve({ tenant, jobId }, first.leaseSequence, grants, more, dependencies);
  } finally {
    await ask({ kind: "done", ...from, parts: grants.parts, ...whatIsLeft(grants) });
  }
}

/** What the holder passed on to this worker. */
type Grants = {
  /** How many answers of the holder arrived. */
  parts: number;
  readonly recipients: number[];
  /** What this worker did with them; null as long as it did nothing. */
  ledger: Ledger | null;
};

function whatIsLeft({ recipients, ledger }: Grants): Pick<HelpDone, "notServed" | "isClean"> {
  if (ledger === null) return { notServed: recipients, isClean: true };
  const having = (value: number): number[] => recipients.filter((recipient) => ledger.cells[recipient] === value);
  return { notServed: having(cell.pending), isClean: having(cell.claimed).length === 0 };
}

async function serve(
  job: JobRef,
  leaseSequence: number,
  grants: Grants,
  more: () => Promise<HelpAnswer | null>,
  dependencies: HelpDependencies,
): Promise<void> {
  const { log, worker, id, unwritten, stopping, giveUp } = dependencies;
  const confirmedAt = performance.now();
  const decisions = await persistently(stopping, () => log.readDecisions(job));
  const { state } = foldDecisions(decisions);
  const [created, last] = [decisions[0], decisions.at(-1)];
  if (created === undefined || last?.sequence !== leaseSequence || state.status !== "processing") return;
  const { settings, run, attempt } = state;
  const prepared = await dependencies.prepare(job, settings);
  if (prepared === notNow) return;
  const { correlationId, causationId, traceparent } = last;
  const readLedger = () => persistently(stopping, () => replayLedger(log, job, settings.total, decisions));
  const before = attempt === 1 ? null : await readLedger();
  const ledger = ledgerOf(settings.total, run, grants.recipients, before);
  grants.ledger = ledger;
  const held: HeldTurn = {
    job,
    turn: { run, attempt },
    settings,
    createdAt: created.event.at,
    worker,
    leaseSequence,
    cause: { actor: `worker:${worker}`, correlationId, causationId, traceparent },
    ledger,
    confirmedAt,
    readLedger,
    claimed: [],
    ...patienceOf(settings, { run, attempt }, decisions),
    supply: null,
    help: id,
  };
  const lease = watchLease(log, held, giveUp);
  const books = createBookkeeper(log, held, now, unwritten, { claiming: stopping, giveUp });
  const supply = createSupply(ledger, async () => {
    const mayGoOn = lease.isHeld() && !stopping.aborted && !dependencies.connections.areWanted();
    return mayGoOn ? ((await more())?.recipients ?? []) : [];
  });
  try {
    await prepared.work({ ...held, supply }, lease, books, stopping);
    await books.settled();
  } finally {
    lease.end();
  }
}

/** The helper knows of no other recipients: the rest is left out. Of its own it knows how often they were in doubt before. */
function ledgerOf(total: number, run: number, recipients: readonly number[], before: Ledger | null): Ledger {
  const { cells } = emptyLedger(total);
  cells.fill(cell.leftOut);
  for (const recipient of recipients) cells[recipient] = cell.pending;
  return { ...before, run, cells };
}

/** Asks for the next group while the last claims of the one before are served. */
function createSupply({ cells }: Ledger, more: () => Promise<readonly number[]>): Supply {
  let left: number[] = [];
  let isOver = false;
  let asking: Promise<void> | null = null;
  const ask = async (): Promise<void> => {
    const recipients = await more();
    isOver = recipients.length === 0;
    for (const recipient of recipients) cells[recipient] = cell.pending;
    left.push(...recipients);
  };
  const fetch = async (): Promise<void> => {
    if (isOver) return;
    asking ??= ask().finally(() => {
      asking = null;
    });
    await asking;
  };
  return {
    isHelp: true,
    open: (recipients) => {
      left = recipients;
    },
    claimed: (group) => {
      if (left.length <= group.length) fetch().catch(() => {});
    },
    refill: async () => {
      await fetch();
      return left.length > 0;
    },
    gather: async () => noOthers,
  };
}

const now = (): string => new Date().toISOString();
