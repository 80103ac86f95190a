import type { JobType } from "../../src/domain/job/events.ts";
import type { JobStatus } from "../../src/domain/job/job-view.ts";
import type { Instant } from "../../src/domain/message.ts";

export type JobOrder = { readonly sortBy: "createdAt" | "completedAt"; readonly order: "asc" | "desc" };

/** The last job of a page: the next page begins after it, whatever was added or removed in between. */
export type JobCursor = JobOrder & {
  /** The value of the sort column; null for jobs that have not ended. */
  readonly value: Instant | null;
  readonly id: string;
  /**
   * The total counted for the first page: counting again would take longer with every job. Null if it was not counted.
   */
  readonly total: number | null;
};

/** A cursor that this list did not create, or of a list in another order. */
export class InvalidCursor extends Error {
  override readonly name = "InvalidCursor";

  constructor() {
    super("The cursor is not one that a list in this order has answered.");
  }
}

/** Opaque to clients, who must not rely on its contents. */
export const encodeCursor = ({ sortBy, order, value, id, total }: JobCursor): string =>
  Buffer.from(JSON.stringify([sortBy, order, value, id, total])).toString("base64url");

export function decodeCursor(text: string, { sortBy, order }: JobOrder): JobCursor {
  const [itsSortBy, itsOrder, value, id, total] = parse(text);
  const isSameOrder = itsSortBy === sortBy && itsOrder === order;
  const isValue = isInstant(value) || (value === null && sortBy === "completedAt");
  const isTotal = total === null || Number.isSafeInteger(total);
  if (!isSameOrder || !isValue || typeof id !== "string" || !isTotal) throw new InvalidCursor();
  return { sortBy, order, value, id, total: total as number | null };
}

function parse(text: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

/** JavaScript also has years beyond those that a DATETIME holds. */
const yearOfDatabase = /^[1-9]\d{3}-/;

const isInstant = (value: unknown): value is Instant =>
  typeof value === "string" &&
  yearOfDatabase.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  new Date(value).toISOString() === value;

export type JobListOptions = JobOrder & {
  /** None means any. */
  readonly statuses: readonly JobStatus[];
  readonly type: JobType | null;
  /** The parts of this mailing only. */
  readonly mailing: string | null;
  /** Both exclude the instant itself. */
  readonly createdAfter: Instant | null;
  readonly createdBefore: Instant | null;
  /**
   * Part of the subject or the name, case-insensitive. One answer searches at most as many jobs as SearchBounds allow.
   */
  readonly q: string | null;
  /** From 1; ignored if there is a cursor. */
  readonly page: number;
  readonly pageSize: number;
  readonly cursor: string | null;
};

/** The list of all jobs, the newest first. */
export const everyJob: JobListOptions = {
  statuses: [],
  type: null,
  mailing: null,
  createdAfter: null,
  createdBefore: null,
  q: null,
  page: 1,
  pageSize: 100,
  cursor: null,
  sortBy: "createdAt",
  order: "desc",
};
