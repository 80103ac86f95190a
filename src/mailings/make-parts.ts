import { handleCommand, handleMailingCommand } from "../commands/handle-command.ts";
import { hasEnded } from "../domain/job/hold-back.ts";
import { waitAfterPart } from "../domain/mailing/pace.ts";
import type { ExistingMailing } from "../domain/mailing/state.ts";
import { nextInWindow } from "../domain/mailing/window.ts";
import type { Instant } from "../domain/message.ts";
import { againOnConflict } from "../event-log/again-on-conflict.ts";
import type { Cause, EventLog } from "../event-log/event-log.ts";
import type { Ending } from "../event-log/following/active-process.ts";
import { createPart, type PartPorts } from "./create-part.ts";
import { findRun, note, type OpenMailing, type Run } from "./open-mailing.ts";

/** So many parts of a mailing are jobs that have not ended: enough for many workers, and few to pause or to cancel. */
const openAtOnce = 20;

/**
 * The mailing once parts of it may be made, and null until then. One that can be taken back is released in the log first:
 * whatever the clocks say, no part is made of a mailing whose undo was accepted.
 */
export async function released(log: EventLog, mailing: OpenMailing, cause: Cause): Promise<ExistingMailing | null> {
  const { state } = mailing.version;
  if (state.status !== "started" || state.undoUntil === null) return state.status === "started" ? state : null;
  const at = new Date().toISOString();
  if (at < state.undoUntil) return null;
  const command = { type: "ReleaseMailing", at } as const;
  const outcome = await handleMailingCommand(log, mailing.ref, command, cause, { from: mailing.version });
  if (outcome.outcome === "rejected") throw new Error(`Mailing ${mailing.ref.jobId} was not released.`);
  mailing.version = outcome;
  const { state: after } = outcome;
  return after.status === "started" && after.undoUntil === null ? after : null;
}

/**
 * When the next part may be made: once what went before it has had its time at the pace of the mailing, and in its window.
 * The parts that are open all count from when they were made, so a pause makes nothing up.
 */
export function dueAt({ made, lastMadeAt }: OpenMailing, state: ExistingMailing, now: Instant): Instant {
  const { settings, scheduledAt, parts } = state;
  const { brakes } = settings;
  if (brakes === null) return now;
  const before = parts.slice(0, Math.max(0, made - 1)).reduce((sum, { recipients }) => sum + recipients, 0);
  const waitMs = lastMadeAt === null ? 0 : waitAfterPart(brakes, before, parts[made - 1]?.recipients ?? 0);
  const rested = new Date(Date.parse(lastMadeAt ?? now) + waitMs).toISOString();
  const due = [now, rested, scheduledAt ?? now].reduce((one, other) => (one > other ? one : other));
  return brakes.window === null ? due : nextInWindow(brakes.window, due);
}

/** Until enough are open, or something else was decided. Returns when the next one is due; null where that is not known. */
export async function makeParts(
  ports: PartPorts,
  mailing: OpenMailing,
  state: ExistingMailing,
  cause: Cause,
  { stopping }: Ending,
): Promise<Instant | null> {
  while (mailing.running.size < openAtOnce && mailing.made < state.parts.length && mailing.unheard === 0) {
    stopping.throwIfAborted();
    const now = new Date().toISOString();
    // The clock was set back, or that of the process before is ahead: the next part waits no longer than its time from now on.
    if (mailing.lastMadeAt !== null && mailing.lastMadeAt > now) mailing.lastMadeAt = now;
    const due = dueAt(mailing, state, now);
    if (due > now) return due;
    const job = await createPart(ports, mailing.ref, state, mailing.made, cause);
    // It was made before, and reading what became of it failed.
    const run: Run = hasEnded(job.state) ? await findRun(ports.log, job.ref, mailing.retriedAt) : { found: "running" };
    note(mailing, mailing.made, run);
    mailing.made += 1;
    mailing.lastMadeAt = new Date().toISOString();
  }
  for (const part of mailing.again) {
    if (mailing.running.size >= openAtOnce || mailing.unheard > 0) return null;
    stopping.throwIfAborted();
    note(mailing, part, await runAgain(ports.log, mailing, state, part, cause));
    mailing.again.delete(part);
  }
  return null;
}

/**
 * Retries the job of a part, once for each retry of the mailing: an answer that was lost, another process that does the
 * same, or a person that was faster, shows in the history of the job.
 */
async function runAgain(
  log: EventLog,
  { ref, retriedAt }: OpenMailing,
  { parts, retryScope: scope }: ExistingMailing,
  part: number,
  cause: Cause,
): Promise<Run> {
  const job = { ...ref, jobId: parts[part]?.jobId ?? "" };
  const read = async () => {
    const run = await findRun(log, job, retriedAt);
    return { run, sequence: run.found === "before" ? run.version.sequence : 0 };
  };
  return await againOnConflict(read, async ({ run }): Promise<Run> => {
    if (run.found !== "before") return run;
    const command = { type: "RetryJob", at: new Date().toISOString(), scope, reason: null } as const;
    const outcome = await handleCommand(log, job, command, cause, { from: run.version, maxConflicts: 0 });
    // It was requeued as another job, or erased: it stays as it is.
    return outcome.outcome === "accepted" ? { found: "running" } : await findRun(log, job, 0);
  });
}
