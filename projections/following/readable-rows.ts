import type { Knex } from "knex";
import type { Projector } from "../projector.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { RowsOfOtherRelease } from "./read-failure.ts";

/** How long a positive result is trusted: a process of another release may have restored older rows since. */
const freshMs = 1_000;

/** The server's errors for columns, tables and keys that the rows do not have (1054, 1146, 1176). */
const notThere: ReadonlySet<unknown> = new Set([1054, 1146, 1176]);

type Ask = (...args: never[]) => Promise<unknown>;

type Readable = Pick<Projector, "name" | "version">;

/**
 * Wraps the queries so that they throw RowsOfOtherRelease instead of answering from rows of an older release, or from
 * rows of a newer one that lack what they need. Costs a small query a second, in parallel with the others.
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
  // The entries keep their names and signatures, which the type of fromEntries cannot express.
  return Object.fromEntries(guarded) as Queries;
}

export type RowsGuard = {
  /** Throws RowsOfOtherRelease if the rows cannot be read. */
  readonly check: () => Promise<void>;
  /** Rethrows the failure of a query, or throws RowsOfOtherRelease if that is the reason. */
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
      // No caller awaits this promise; if the database is away, the caller's own query reports it.
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

/**
 * Rows of an older release are not read. Rows of a newer one are: a table that this release would misread has another
 * name.
 */
async function whyNotToRead(db: Knex, projector: Readable): Promise<string | null> {
  const checkpoint = await readCheckpoint(db, projector.name);
  const isOlder = checkpoint !== null && checkpoint.version < projector.version;
  return isOlder ? ofOtherVersion(projector, checkpoint.version) : null;
}

const ofOtherVersion = ({ name, version }: Readable, found: number): string =>
  `The rows of ${name} are of version ${found}, this release reads ${version}. They are rebuilt in the background.`;
