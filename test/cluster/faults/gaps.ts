import type { Excused } from "./fault.ts";

/** The longest time in which something steady did not happen, and how much of it counts. */
export type Gap = { readonly ms: number; readonly countedMs: number };

/** Among moments in order, by the clock of `performance`, from `begin` to `end`. */
export function longestGap(
  moments: readonly number[],
  begin: number,
  end: number,
  excused: readonly Excused[] = [],
): Gap {
  const within = moments.filter((at) => at > begin && at < end);
  let longest: Gap = { ms: 0, countedMs: 0 };
  for (const [index, to] of [...within, end].entries()) {
    const from = within[index - 1] ?? begin;
    const countedMs = to - from - excusedIn(from, to, excused);
    longest = { ms: Math.max(longest.ms, to - from), countedMs: Math.max(longest.countedMs, countedMs) };
  }
  return longest;
}

const excusedIn = (from: number, to: number, excused: readonly Excused[]): number =>
  excused.reduce((sum, span) => sum + Math.max(0, Math.min(to, span.to) - Math.max(from, span.from)), 0);
