import type { SendOutcome } from "../../src/domain/recipients/events.ts";
import { isDecision } from "../../src/event-log/select-events.ts";
import type { Mail, Mailer } from "../../src/mail/mailer.ts";
import type { Entry, SharedLog } from "./shared-log.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** One mail that a worker began to hand over. */
export type Handover = {
  readonly process: SimulatedProcess;
  readonly jobId: string;
  readonly recipient: number;
  readonly calledAtMs: number;
  /** The mail server has it. */
  isTaken: boolean;
  /** What the worker was told has become of it; null as long as it was told nothing. */
  answer: SendOutcome["kind"] | null;
  /** What became of it stands in the log. */
  isRecorded: boolean;
  /** Something happened after which it is uncertain whether it was taken, or which worker has to send it. */
  isInDoubt: boolean;
};

export type MailWorld = ReturnType<typeof createMailWorld>;

/** The answers of a mail server are known this long after a question to the log, at most: what src/workers/lease.ts allows. */
const leaseIsFreshForMs = 1000;
const patienceMs = 5000;

/** The mail server, and what each worker did with it. */
export function createMailWorld(world: World, shared: SharedLog) {
  const handovers: Handover[] = [];
  /** A worker that did not answer for a job may lose it, and does not know until it reads the log. */
  const doubted = new Set<string>();
  let awayUntil = 0;
  let putsOffUntil = 0;
  /** Further checks that know why a mail must not be handed over now. */
  const isRefused: ((address: string, atMs: number) => string | null)[] = [];
  /** Addresses whose mail is the death of its worker. */
  const deadly = new Set<string>();

  world.onEnd.push((process) => {
    for (const handover of handovers) {
      if (handover.process === process && !handover.isRecorded) handover.isInDoubt = true;
    }
  });
  shared.onStored.push(({ event, actor, jobId }) => {
    if (event.type === "JobStarted") doubted.delete(`${event.data.worker} ${jobId}`);
    if (!("recipient" in event.data)) return;
    for (const handover of handovers) {
      const isIt = handover.jobId === jobId && handover.recipient === event.data.recipient;
      if (isIt && actor === `worker:${handover.process.name}`) handover.isRecorded = true;
    }
  });

  const begin = (process: SimulatedProcess, mail: Mail): Handover => {
    const [, recipient, jobId] = /^r(\d+)@(.+)\.example$/.exec(mail.to) ?? [];
    const handover: Handover = {
      process,
      jobId: jobId ?? "",
      recipient: Number(recipient),
      calledAtMs: world.nowMs(),
      isTaken: false,
      answer: null,
      isRecorded: false,
      isInDoubt: process.state === "frozen" || doubted.has(`${process.name} ${jobId}`),
    };
    for (const fault of faultsOf(handover, shared.historyOf(handover.jobId))) world.violated(fault);
    for (const refused of isRefused) {
      const why = refused(mail.to, handover.calledAtMs);
      if (why !== null) world.violated(`${process.name} hands over a mail to ${mail.to}, ${why}`);
    }
    handovers.push(handover);
    return handover;
  };

  const take = (handover: Handover): void => {
    handover.isTaken = true;
    world.note(
      `    the mail server takes ${handover.jobId} recipient ${handover.recipient} of ${handover.process.name}`,
    );
  };

  const isAway = (): boolean =>
    (!world.isHealed() && world.nowMs() < awayUntil) || world.strikes(world.faults.unavailable);

  const isPuttingOff = (): boolean => !world.isHealed() && world.nowMs() < putsOffUntil;

  /** What comes of a mail, and whether the mail server has it then. */
  const decide = (handover: Handover): { readonly outcome: SendOutcome; readonly isTaken: boolean } => {
    const { faults, chance } = world;
    if (isAway()) return { outcome: unavailable, isTaken: false };
    if (world.strikes(faults.unanswered)) {
      handover.isInDoubt = true;
      return { outcome: { kind: "unknown", error: reply("outcome-unknown", null) }, isTaken: chance.happens(0.5) };
    }
    if (chance.happens(faults.refused))
      return { outcome: { kind: "failed", error: reply("rejected", 550) }, isTaken: false };
    if (isPuttingOff() || world.strikes(faults.deferred)) {
      return { outcome: { kind: "deferred", error: reply("deferred", 451) }, isTaken: false };
    }
    return { outcome: { kind: "sent", response: "250 2.0.0 OK" }, isTaken: true };
  };

  const answersAfterMs = (): number =>
    world.strikes(world.faults.slowMails) ? world.chance.between(2000, 30_000) : world.chance.between(1, 60);

  return {
    handovers,
    isRefused,
    deadly,
    goAway: (forMs: number): void => {
      world.note(`the mail server is away for ${(forMs / 1000).toFixed(1)} s`);
      awayUntil = world.nowMs() + forMs;
    },
    putOff: (forMs: number): void => {
      world.note(`the mail server defers every recipient for ${(forMs / 1000).toFixed(1)} s`);
      putsOffUntil = world.nowMs() + forMs;
    },
    /** From now on another worker may hold the job without this one knowing. */
    doubt: (process: SimulatedProcess, jobId: string): void => {
      doubted.add(`${process.name} ${jobId}`);
      for (const handover of handovers) {
        if (handover.process === process && handover.jobId === jobId && !handover.isRecorded) handover.isInDoubt = true;
      }
    },
    /** A process was stopped in good order: what it could not record by then is in doubt, if the log was away. */
    ended: (process: SimulatedProcess): void => {
      const unrecorded = handovers.filter((handover) => handover.process === process && !handover.isRecorded);
      for (const handover of unrecorded) handover.isInDoubt ||= world.nowMs() - handover.calledAtMs > patienceMs;
    },
    mailerOf: (process: SimulatedProcess, connections: number): Mailer => ({
      connections,
      close: async () => {},
      probe: () =>
        new Promise((resolve) => {
          world.leave(process, () => {
            const outcome = isAway() ? unavailable : ({ kind: "ready" } as const);
            world.tell(process, world.chance.between(2, 60), () => resolve(outcome));
          });
        }),
      send: (mail) =>
        new Promise((resolve) => {
          if (process.state === "dead") return;
          const handover = begin(process, mail);
          if (deadly.has(mail.to)) world.crash(process);
          world.leave(process, () => {
            world.schedule(world.chance.between(1, 60), () => {
              const { outcome, isTaken } = decide(handover);
              if (isTaken) take(handover);
              world.tell(process, outcome.kind === "unknown" ? patienceMs : answersAfterMs(), () => {
                handover.answer = outcome.kind;
                resolve(outcome);
              });
            });
          });
        }),
    }),
  };
}

const unavailable = { kind: "unavailable", error: { code: "smtp-unavailable", message: "away" } } as const;

const reply = (code: string, replyCode: number | null) => ({ code, message: code, replyCode, statusCode: null });

/** The lease of a claim, which its holder or a helper made: the first claims stand in one entry with it, others name it. */
const leaseSequenceOf = ({ id, sequence }: Entry): number =>
  id.endsWith("/claim") ? sequence : Number(id.split("/")[1]);

/** What is wrong with handing over this mail now, by the log alone. */
function faultsOf({ process, jobId, recipient, calledAtMs }: Handover, history: readonly Entry[]): string[] {
  const mail = `${process.name} hands over ${jobId} recipient ${recipient}`;
  const claim = history.findLast(
    ({ event }) =>
      event.type === "RecipientsClaimed" &&
      event.data.worker === process.name &&
      event.data.recipients.includes(recipient),
  );
  if (claim === undefined) return [`${mail} without a claim`];
  const lease = history.findLast(
    ({ event, sequence }) => event.type === "JobStarted" && sequence === leaseSequenceOf(claim),
  );
  if (lease === undefined) return [`${mail} without a lease`];
  const faults: string[] = [];
  const next = history.find((entry) => isDecision(entry) && entry.sequence > lease.sequence);
  const lostForMs = next === undefined ? 0 : calledAtMs - next.storedAtMs;
  if (lostForMs > leaseIsFreshForMs) faults.push(`${mail} ${Math.round(lostForMs)} ms after ${next?.event.type}`);
  const sent = history.find(({ event }) => event.type === "RecipientSent" && event.data.recipient === recipient);
  // A worker that does not know yet that it lost the job cannot know either what another one sends.
  const couldKnow = sent !== undefined && (next === undefined || sent.sequence < next.sequence);
  // What it read of another worker it believes for as long as it believes in its lease.
  const isBelieved =
    sent !== undefined && sent.actor !== `worker:${process.name}` && calledAtMs - sent.storedAtMs <= leaseIsFreshForMs;
  if (couldKnow && !isBelieved) faults.push(`${mail} although #${sent.sequence} says that it was sent`);
  return faults;
}
