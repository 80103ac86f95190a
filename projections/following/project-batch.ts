import type { Knex } from "knex";
import { inTransaction } from "../../src/database/database.ts";
import { isDatabaseTrouble } from "../../src/database/database-failure.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { endOfBatch, inBatches } from "../../src/event-log/batches.ts";
import { isOfTenant, type LogEvent, type StoredEvent, type TenantEvent } from "../../src/event-log/event-log.ts";
import { describeFailure } from "../../src/process/logger.ts";
import { isErasure, isHandled, type Projector, type Sources, type Suffix } from "../projector.ts";
import { dropCopies } from "../rebuilding/kept-tables.ts";
import { type Checkpoint, moveCheckpoint } from "./checkpoint.ts";

/** A projection and the set of its tables that it writes. */
export type ProjectionPlace = {
  readonly db: Knex;
  readonly projector: Projector;
  readonly suffix: Suffix;
  readonly sources: Sources;
};

/** An event that this projection cannot handle, now or later: an operator has to look at it. */
export class UnprojectableEvent extends Error {
  override readonly name = "UnprojectableEvent";
  readonly sequence: number;

  constructor(projection: string, sequence: number, cause: unknown) {
    super(`Event ${sequence} cannot be projected by ${projection}: ${describeFailure(cause)}`, { cause });
    this.sequence = sequence;
  }
}

/** The checkpoint has moved: another process projects into these tables, or has created them again. */
export class CheckpointMoved extends Error {
  override readonly name = "CheckpointMoved";
}

/**
 * Writes rows and checkpoint in one transaction: however often an entry is delivered, and whichever process is killed
 * when, its events count once. Events of unknown types, and those of the service, are skipped. Returns the new
 * checkpoint.
 *
 * If an event of the batch cannot be projected, the entries before it are projected one by one, and UnprojectableEvent
 * names its entry.
 */
export async function projectBatch(
  place: ProjectionPlace,
  from: Checkpoint,
  batch: readonly LogEvent[],
): Promise<Checkpoint> {
  try {
    return await commit(place, from, batch);
  } catch (failure) {
    if (!(failure instanceof UnprojectableEvent) || endOfBatch(batch, 0, 1) === batch.length) throw failure;
    let reached = from;
    for (const entry of inBatches(batch, 1)) reached = await commit(place, reached, entry);
    return reached;
  }
}

async function commit(
  { db, projector, suffix, sources }: ProjectionPlace,
  from: Checkpoint,
  batch: readonly LogEvent[],
): Promise<Checkpoint> {
  const last = batch.at(-1);
  if (last === undefined) return from;
  const to: Checkpoint = { ...from, sequence: last.sequence };
  const move = async (through: Knex): Promise<void> => {
    if (await moveCheckpoint(through, projector.name, suffix, from, to)) return;
    throw new CheckpointMoved(`The checkpoint of ${projector.name} is no longer ${from.sequence}.`);
  };
  const events = batch.filter(
    (event): event is StoredEvent<TenantEvent> => isOfTenant(event) && isHandled(projector, event),
  );
  // Before the commit: a process that dies in between is followed by one that does it again.
  if (suffix === "" && events.some(isErasure)) await dropCopies(db, projector, to.sequence);
  const [first] = events;
  if (first === undefined) {
    await move(db);
    return to;
  }
  await inTransaction(db, async (transaction) => {
    // First, because this also keeps every other writer of the same tables waiting until the transaction ends.
    await move(transaction);
    for (const event of events.filter(isErasure)) sources.readContent.forget?.(event);
    await projector.project(events, { transaction, suffix, sources }).catch((failure: unknown) => {
      if (isPassing(failure)) throw failure;
      throw new UnprojectableEvent(projector.name, first.sequence, failure);
    });
  });
  return to;
}

/** The database or the content store is away: the same events can be projected later. */
const isPassing = (failure: unknown): boolean => isDatabaseTrouble(failure) || failure instanceof Unavailable;
