import type { Excused } from "./fault.ts";

/** The longest time in which something steady did not happen, and the longest that counts, with its end. */
export type Gap = { readonly ms: number; readonly countedMs: number; readonly to: number };

/** Among moments in order, by the clock of `performance`, from `begin` to `end`. */
export function longestGap(
  moments: readonly number[],
  begin: number,
  end: number,
  excused: readonly Excused[] = [],
): Gap {
  const within = moments.filter((at) => at > begin && at < end);
  let longest: Gap = { ms: 0, countedMs: 0, to: begin };
  for (const [index, to] of [...within, end].entries()) {
    const from = within[index - 1] ?? begin;
    const countedMs = to - from - excusedIn(from, to, excused);
    const counted = countedMs > longest.countedMs ? { countedMs, to } : longest;
    longest = { ...counted, ms: Math.max(longest.ms, to - from) };
  }
  return longest;
}

/** How long a gap that counts went on after the last election in it; null where there was none. */
export function sinceElection({ countedMs, to }: Gap, elections: readonly number[]): number | null {
  const last = elections.findLast((at) => at <= to);
  return last === undefined || last < to - countedMs ? null : to - last;
}

const excusedIn = (from: number, to: number, excused: readonly Excused[]): number =>
  excused.reduce((sum, span) => sum + Math.max(0, Math.min(to, span.to) - Math.max(from, span.from)), 0);
