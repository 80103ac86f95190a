import type { JobAnswer, JobPage } from "../api/answers.ts";

/** From the one that a person should look at first to the one that needs nobody. */
export const partStates = [
  "failed",
  "retrying",
  "processing",
  "paused",
  "waiting",
  "not made",
  "cancelled",
  "done",
] as const;

export type PartState = (typeof partStates)[number];

export type MadePart = { readonly jobId: string; readonly state: PartState };

const stateOf = {
  pending: "waiting",
  scheduled: "waiting",
  queued: "waiting",
  processing: "processing",
  retrying: "retrying",
  paused: "paused",
  completed: "done",
  failed: "failed",
  cancelled: "cancelled",
} satisfies Record<JobAnswer["status"], PartState>;

/** A page of the jobs of a mailing, in the order in which they were made: that of its parts. */
export type LoadPage = (cursor: string | null, signal: AbortSignal) => Promise<Pick<JobPage, "data" | "pagination">>;

type KnownPage = { readonly parts: readonly MadePart[]; readonly next: string | null };

/** The most requests of one refresh. */
const pagesAtOnce = 20;

export type PartList = {
  /**
   * The parts known after this refresh. `isWhole` is false until the last page was read once: then more is known after the
   * next refresh.
   */
  refresh(
    isOpen: boolean,
    signal: AbortSignal,
  ): Promise<{ readonly parts: readonly MadePart[]; readonly isWhole: boolean }>;
};

/**
 * Keeps the pages whose jobs have ended, so that a refresh of a mailing with thousands of parts asks for the few pages that
 * may have changed. A failed part is run again only while the mailing is open (`isOpen`).
 */
export function createPartList(load: LoadPage): PartList {
  const pages: KnownPage[] = [];
  let at = 0;
  let isWhole = false;

  const isSettled = ({ parts, next }: KnownPage, isOpen: boolean): boolean =>
    next !== null &&
    parts.every(({ state }) => state === "done" || state === "cancelled" || (state === "failed" && !isOpen));

  return {
    refresh: async (isOpen, signal) => {
      for (let asked = 0; asked < pagesAtOnce; ) {
        const known = pages[at];
        if (known === undefined || !isSettled(known, isOpen)) {
          const { data, pagination } = await load(at === 0 ? null : (pages[at - 1]?.next ?? null), signal);
          // Its successor has begun at the same page.
          signal.throwIfAborted();
          const parts = data.map(({ id, status }) => ({ jobId: id, state: stateOf[status] }));
          pages[at] = { parts, next: pagination.nextCursor };
          asked += 1;
        }
        const isLast = pages[at]?.next === null;
        at = isLast ? 0 : at + 1;
        isWhole ||= isLast;
        if (isLast) break;
      }
      return { parts: pages.flatMap(({ parts }) => parts), isWhole };
    },
  };
}

/** One cell of the strip: a part, or some parts in a row. */
export type Cell = {
  /** From 1. */
  readonly first: number;
  readonly last: number;
  readonly state: PartState;
  /** The job that gives the cell its state; null where it is not made. */
  readonly jobId: string | null;
  readonly counts: PartCounts;
};

export type PartCounts = Readonly<Record<PartState, number>>;

/** At most `mostCells` cells of equally many parts. A cell has the state that a person should look at first. */
export function toCells(made: readonly MadePart[], parts: number, mostCells: number): readonly Cell[] {
  const size = Math.max(1, Math.ceil(parts / mostCells));
  return Array.from({ length: Math.ceil(parts / size) }, (_, index) => {
    const from = index * size;
    const to = Math.min(parts, from + size);
    const here = made.slice(from, to);
    const counts = countParts(here, to - from);
    const state = partStates.find((one) => counts[one] > 0) ?? "not made";
    const jobId = here.find((part) => part.state === state)?.jobId ?? here[0]?.jobId ?? null;
    return { first: from + 1, last: to, state, jobId, counts };
  });
}

/** The parts that are no jobs are those that are missing from `made`. */
export function countParts(made: readonly MadePart[], parts: number): PartCounts {
  const counts = Object.fromEntries(partStates.map((state) => [state, 0])) as Record<PartState, number>;
  for (const { state } of made) counts[state] += 1;
  counts["not made"] = Math.max(0, parts - made.length);
  return counts;
}
