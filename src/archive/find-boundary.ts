import { type EventLog, keyOf } from "../event-log/event-log.ts";
import { digestOfSeal, faultOfSeal, readSeal, type StoredSeal } from "../seals/seal.ts";
import type { SealedLog } from "../seals/sealed-log.ts";
import { createOpenJobs, type HeldBack } from "./open-jobs.ts";
import type { StoredLog } from "./stored-log.ts";

/** Nothing is archived, and nothing cut. */
export class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
}

export type Boundary = {
  /** The seals whose ranges may be archived, oldest first. */
  readonly seals: readonly StoredSeal[];
  /**
   * What keeps a part of the log that is old enough from being archived or cut off, oldest first, as the log is now: a job
   * that had ended may have been opened again since the last call.
   */
  readonly held: () => Promise<readonly HeldBack[]>;
};

export type BoundarySettings = {
  /** Only what was sealed before is archived. */
  readonly before: Date;
  /** Whether RETENTION_DAYS erases the contents of jobs, which it can do only while they are in the log. */
  readonly areErased: boolean;
  readonly onProgress: (sequence: number, lastSequence: number) => void;
};

type Ports = {
  readonly log: Pick<EventLog, "follow" | "state">;
  readonly sealedLog: Pick<SealedLog, "messages" | "isPassed">;
  readonly storedLog: Pick<StoredLog, "firstDecision" | "readers">;
};

/** The log as the archive has it: `first` is what the log still begins with, which may be before the end of the archive. */
type Archived = { readonly first: number; readonly to: number };

/**
 * How much of the log after the archive may be archived. It reads the log whole, once, because only its end says which
 * jobs are still open.
 */
export async function findBoundary(ports: Ports, archived: Archived, settings: BoundarySettings): Promise<Boundary> {
  const seals = (await readSeals(ports.sealedLog, archived.to)).filter(({ to }) => to > archived.to);
  // A seal is as old as the oldest one after it: where the clock of a sealer was ahead, its seal says too late a time.
  const isOld = ({ sealedAt }: StoredSeal): boolean => Date.parse(sealedAt) < settings.before.getTime();
  const old = seals.slice(0, seals.findLastIndex(isOld) + 1);
  if (old[0] !== undefined && old[0].from !== archived.to + 1) {
    throw new ArchiveRefused(`No seal begins where the archive ends, at ${archived.to}.`);
  }
  const upTo = old.at(-1)?.to ?? archived.to;
  if (upTo < archived.first) return { seals: [], held: async () => [] };
  const held = createHeld(ports, archived.first - 1, upTo, settings);
  const first = firstOf(await held());
  return { seals: old.filter(({ to }) => to < first), held };
}

/** The first entry that is needed. */
export const firstOf = (held: readonly HeldBack[]): number => held[0]?.sequence ?? Number.POSITIVE_INFINITY;

/** Reads the log on from where it came to at the last call. */
function createHeld(
  ports: Ports,
  afterSequence: number,
  upTo: number,
  { areErased, onProgress }: BoundarySettings,
): Boundary["held"] {
  const open = createOpenJobs(upTo, areErased);
  const locate = createLocating(ports.storedLog);
  let position = afterSequence;
  return async () => {
    const { lastSequence } = await ports.log.state();
    for await (const batch of eventsUpTo(ports.log, position, lastSequence)) {
      for (const event of batch) open.take(event);
      position = batch.at(-1)?.sequence ?? position;
      onProgress(position, lastSequence);
    }
    return [...(await locate(open.left())), ...(await ofReaders(ports))]
      .filter(({ sequence }) => sequence <= upTo)
      .sort((one, other) => one.sequence - other.sequence);
  };
}

async function* eventsUpTo(log: Pick<EventLog, "follow">, afterSequence: number, lastSequence: number) {
  if (afterSequence >= lastSequence) return;
  const over = new AbortController();
  try {
    for await (const batch of log.follow({ afterSequence, maxEvents: 10_000, signal: over.signal })) {
      yield batch;
      if ((batch.at(-1)?.sequence ?? 0) >= lastSequence) return;
    }
  } finally {
    over.abort();
  }
}

/** Each takes some requests: those of all of them at once would wait for each other longer than NATS is given for an answer. */
const lookedForAtOnce = 16;

/** Looks up where jobs and mailings begin that were opened again. One that is known stays: nothing is cut past it. */
function createLocating({ firstDecision }: Ports["storedLog"]) {
  const beginnings = new Map<string, number>();
  const beginningOf = ({ job, sequence }: HeldBack): number | undefined =>
    job === null || sequence > 0 ? sequence : beginnings.get(keyOf(job));
  return async (held: readonly HeldBack[]): Promise<readonly HeldBack[]> => {
    const left = held.flatMap((one) => (one.job === null || beginningOf(one) !== undefined ? [] : [one.job]));
    const lookForSome = async (): Promise<void> => {
      for (let job = left.pop(); job !== undefined; job = left.pop()) {
        beginnings.set(keyOf(job), await firstDecision(job));
      }
    };
    await Promise.all(Array.from({ length: lookedForAtOnce }, lookForSome));
    return held.map((one) => (one.sequence > 0 ? one : { ...one, sequence: beginningOf(one) ?? 0 }));
  };
}

const ofReaders = async ({ storedLog }: Ports): Promise<readonly HeldBack[]> =>
  (await storedLog.readers()).map(({ name, readUpTo }) => ({
    job: null,
    why: `the reader ${name} has read up to ${readUpTo} only`,
    since: null,
    sequence: readUpTo + 1,
  }));

/** The seals from the one at which the archive ends, each after the one before. */
async function readSeals(sealedLog: Ports["sealedLog"], archivedTo: number): Promise<readonly StoredSeal[]> {
  const seals: StoredSeal[] = [];
  for await (const batch of sealedLog.messages(archivedTo, "seals")) {
    for (const message of batch) {
      const seal = readSeal(message);
      if (seal === null && (await sealedLog.isPassed(message))) continue;
      const fault =
        seal === null ? "it cannot be read" : (faultOfSeal(seal) ?? faultOfPlace(seal, seals.at(-1), archivedTo));
      if (fault !== null) throw new ArchiveRefused(`The seal at ${message.sequence} does not hold: ${fault}.`);
      if (seal !== null) seals.push(seal);
    }
  }
  return seals;
}

function faultOfPlace(seal: StoredSeal, before: StoredSeal | undefined, archivedTo: number): string | null {
  if (before !== undefined) {
    return seal.from === before.to + 1 && seal.previous === digestOfSeal(before)
      ? null
      : "it does not follow the one before";
  }
  // Several ranges can be sealed at once, so seals of archived ranges can stand after the end of the archive.
  return seal.from <= archivedTo + 1 ? null : "what is before it is neither in the log nor in the archive";
}
