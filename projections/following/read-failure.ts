import { isDatabaseTrouble } from "../../src/database/database-failure.ts";

/** The rows are of another release, and this release's queries do not fit them. They are being rebuilt. */
export class RowsOfOtherRelease extends Error {
  override readonly name = "RowsOfOtherRelease";
}

/** The tenant asks for more at a time than it may: see askSlowly. */
export class TooManySlowQueries extends Error {
  override readonly name = "TooManySlowQueries";
}

/** The read model, or its database, cannot answer now; the same query may well succeed later. */
export const isReadFailure = (failure: unknown): boolean =>
  isDatabaseTrouble(failure) || failure instanceof RowsOfOtherRelease || failure instanceof TooManySlowQueries;
