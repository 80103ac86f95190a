import type { HttpLoadResult } from "./load/http-load.ts";
import { type CpuMicros, type Pids, peakMbOf, sumOf } from "./process-usage.ts";
import { median } from "./statistics.ts";

/** As many digits as mean something. */
export function toText(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en-GB");
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** `a 12, b 34`: the largest first, without those that make no difference. */
const toList = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .filter(([, value]) => value >= 0.5)
    .sort(([, one], [, other]) => other - one)
    .map(([name, value]) => `${name} ${toText(value)}`)
    .join(", ");

export function describePeaks(pids: Pids): string {
  const peaks = [...pids].map(([name, pid]) => [name, peakMbOf(pid)] as const);
  const known = peaks.filter((peak): peak is readonly [string, number] => peak[1] !== null);
  return known.length === 0
    ? "peak memory: this system does not tell"
    : `peak MB: ${toList(Object.fromEntries(known))}`;
}

type CountedRound = { readonly cpuMicros: CpuMicros | null; readonly units: number };

/** Of the round that used the median of CPU time a unit. */
export function describeCpu(rounds: readonly CountedRound[], unit: string): string {
  const known = rounds.flatMap(({ cpuMicros, units }) => (cpuMicros === null ? [] : [perUnit(cpuMicros, units)]));
  const middle = known.sort((one, other) => sumOf(one) - sumOf(other))[Math.ceil(known.length / 2) - 1];
  if (middle === undefined) return "CPU: this system does not tell";
  return `µs CPU per ${unit}: ${toText(sumOf(middle))} in all; ${toList(middle)}`;
}

const perUnit = (cpuMicros: CpuMicros, units: number): CpuMicros =>
  Object.fromEntries(Object.entries(cpuMicros).map(([name, micros]) => [name, micros / units]));

/** The cold round first. */
export const describeRounds = ([cold, ...warm]: readonly number[]): string =>
  `${toText(cold ?? 0)} cold, ${warm.map(toText).join(", ")}`;

/** Each number is the median of its own. */
export function describeLoad(rounds: readonly HttpLoadResult[]): string {
  const middle = (pick: (round: HttpLoadResult) => number): string => toText(median(rounds.map(pick)));
  const [p50, p99] = [middle(({ p50Ms }) => p50Ms), middle(({ p99Ms }) => p99Ms)];
  return `${middle(({ perSecond }) => perSecond)}/s, p50 ${p50} ms, p99 ${p99} ms`;
}
