import type { Knex } from "knex";
import { RowsOfOtherRelease } from "../../src/database/database-failure.ts";
import type { Projector } from "../projector.ts";
import { readCheckpoint } from "./checkpoint.ts";

/** Rows that were found readable are looked at again after so long: another release may have put older ones back. */
const freshMs = 1_000;

/** What a server says to queries that speak of columns and keys which the tables do not have (1054, 1176). */
const notThere: ReadonlySet<unknown> = new Set([1054, 1176]);

type Ask = (...args: never[]) => Promise<unknown>;

type Readable = Pick<Projector, "name" | "version">;

/**
 * The same queries, which throw RowsOfOtherRelease instead of answering from rows of an older release, or
 * from rows of a newer one that lack what they ask for.
 * Costs a small query a second, beside the others.
 */
export function onReadableRows<Queries extends Readonly<Record<keyof Queries, Ask>>>(
  db: Knex,
  projector: Readable,
  queries: Queries,
): Queries {
  const guard = createRowsGuard(db, projector);
  const guarded = Object.entries<Ask>(queries).map(([name, query]) => [
    name,
    async (...args: never[]): Promise<unknown> => {
      await guard.check();
      return query(...args).catch(guard.explain);
    },
  ]);
  // The entries have the names and the signatures that they had, which no type of fromEntries can say.
  return Object.fromEntries(guarded) as Queries;
}

export type RowsGuard = {
  /** Throws RowsOfOtherRelease where the rows cannot be read. */
  readonly check: () => Promise<void>;
  /** Throws what a query threw, or RowsOfOtherRelease where that is the reason. */
  readonly explain: (failure: unknown) => Promise<never>;
};

export function createRowsGuard(db: Knex, projector: Readable): RowsGuard {
  let foundAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    const obstacle = await whyNotToRead(db, projector);
    foundAt = obstacle === null ? performance.now() : Number.NEGATIVE_INFINITY;
    if (obstacle !== null) throw new RowsOfOtherRelease(obstacle);
  };
  const lookOnce = (): Promise<void> => {
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  };
  return {
    check: async () => {
      const age = performance.now() - foundAt;
      if (age === Number.POSITIVE_INFINITY) return lookOnce();
      // Nobody waits for it, and whoever asks a database that is away is told by his own query.
      if (age >= freshMs) lookOnce().catch(() => {});
    },
    explain: async (failure) => {
      const { errno } = failure as { readonly errno?: unknown };
      const checkpoint = notThere.has(errno) ? await readCheckpoint(db, projector.name) : null;
      if (checkpoint === null || checkpoint.version === projector.version) throw failure;
      throw new RowsOfOtherRelease(ofOtherVersion(projector, checkpoint.version), { cause: failure });
    },
  };
}

/** Rows of an older release are not read. Those of a newer one are: what this one would misread has another name. */
async function whyNotToRead(db: Knex, projector: Readable): Promise<string | null> {
  const checkpoint = await readCheckpoint(db, projector.name);
  const isOlder = checkpoint !== null && checkpoint.version < projector.version;
  return isOlder ? ofOtherVersion(projector, checkpoint.version) : null;
}

const ofOtherVersion = ({ name, version }: Readable, found: number): string =>
  `The rows of ${name} are of version ${found}, this release reads ${version}. They are rebuilt in the background.`;
