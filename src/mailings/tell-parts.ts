import { handleCommand } from "../commands/handle-command.ts";
import { mailings, readNews } from "../commands/read-version.ts";
import type { JobCommand } from "../domain/job/commands.ts";
import type { MailingPart } from "../domain/mailing/events.ts";
import { mayRunAgain } from "../domain/mailing/run-again.ts";
import type { MailingState } from "../domain/mailing/state.ts";
import { completeErasure, type ErasurePorts } from "../erasure/complete-erasure.ts";
import type { Cause, EventLog } from "../event-log/event-log.ts";
import type { Ending } from "../event-log/following/active-process.ts";
import { type OpenMailing, partsOf } from "./open-mailing.ts";

const erasedAtOnce = 8;
const toldAtOnce = 32;

type Told = "PauseJob" | "ResumeJob" | "CancelJob";

/** Decides this about every part whose job is known to run; one that has ended, or is so already, is left as it is. */
export async function tellAtOnce(log: EventLog, mailing: OpenMailing, type: Told, cause: Cause): Promise<void> {
  await tell(log, mailing, type, cause, runningOf(mailing));
}

/** Tells them what was decided last about the mailing. */
export async function tellRunning(log: EventLog, mailing: OpenMailing, cause: Cause): Promise<void> {
  await tellLast(log, mailing, cause, runningOf(mailing));
}

/**
 * Tells it to those that run, and then to those that had ended, whose jobs a person may have retried by hand since. What is
 * decided meanwhile the others hear when that comes by.
 */
export async function tellAll(log: EventLog, mailing: OpenMailing, cause: Cause, { stopping }: Ending): Promise<void> {
  const { status } = mailing.version.state;
  const ended = partsOf(mailing).filter((part, index) => !mailing.running.has(index) && mayRunAgain(part));
  await tellRunning(log, mailing, cause);
  for (let first = 0; first < ended.length && mailing.version.state.status === status; first += toldAtOnce) {
    stopping.throwIfAborted();
    await tellLast(log, mailing, cause, ended.slice(first, first + toldAtOnce));
  }
}

/**
 * This process may stand still meanwhile, and another one go on: it leaves no part before a look shows that what it said
 * still holds.
 */
async function tellLast(
  log: EventLog,
  mailing: OpenMailing,
  cause: Cause,
  parts: readonly MailingPart[],
): Promise<void> {
  for (let told: MailingState["status"] | null = null; told !== mailing.version.state.status; ) {
    told = mailing.version.state.status;
    const type = toTell[told];
    if (type === undefined) return;
    await tell(log, mailing, type, cause, parts);
    mailing.version = await readNews(mailings, log, mailing.ref, mailing.version);
  }
}

const toTell: { readonly [Status in MailingState["status"]]?: Told } = {
  started: "ResumeJob",
  paused: "PauseJob",
  cancelled: "CancelJob",
};

function runningOf(mailing: OpenMailing): readonly MailingPart[] {
  const parts = partsOf(mailing);
  return [...mailing.running].flatMap((part) => parts[part] ?? []);
}

async function tell(
  log: EventLog,
  { ref }: OpenMailing,
  type: Told,
  cause: Cause,
  parts: readonly MailingPart[],
): Promise<void> {
  const command: JobCommand = { type, at: new Date().toISOString(), reason: null };
  await Promise.all(parts.map(({ jobId }) => handleCommand(log, { ...ref, jobId }, command, cause)));
}

/**
 * No job is made of these parts any more: whoever is about to make one finds it abandoned. One that fails does not keep the
 * others from being erased; the caller tries again.
 */
export async function eraseUnmade(
  ports: ErasurePorts,
  mailing: OpenMailing,
  cause: Cause,
  { stopping }: Ending,
): Promise<void> {
  const unmade = partsOf(mailing).slice(mailing.made);
  const at = new Date().toISOString();
  const command: JobCommand = { type: "AbandonJob", at, reason: "Its mailing was cancelled." };
  const failures: unknown[] = [];
  for (let first = 0; first < unmade.length; first += erasedAtOnce) {
    stopping.throwIfAborted();
    const erasing = unmade.slice(first, first + erasedAtOnce).map(async ({ jobId }) => {
      const job = { ...mailing.ref, jobId };
      await handleCommand(ports.log, job, command, cause);
      await completeErasure(ports, job);
    });
    const failed = (await Promise.allSettled(erasing)).filter((one) => one.status === "rejected");
    failures.push(...failed.map(({ reason }) => reason as unknown));
    // NATS is away.
    if (failed.length === erasing.length) break;
  }
  if (failures.length > 0) throw failures[0];
}
