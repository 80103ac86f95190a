import { type Pids, peakMbOf, residentMbOf } from "./process-usage.ts";
import { median } from "./statistics.ts";

const everyMs = 200;

export type MemoryUse = {
  readonly peakMb: number;
  /** The median of the second half of the time, by that of the first. */
  readonly growth: number;
};

export type MemorySampler = {
  /** By process; empty where /proc does not tell. */
  finish(): ReadonlyMap<string, MemoryUse>;
};

export function sampleMemory(pids: Pids): MemorySampler {
  const samples = new Map<string, number[]>([...pids.keys()].map((name) => [name, []]));
  const timer = setInterval(() => {
    for (const [name, pid] of pids) {
      const resident = residentMbOf(pid);
      if (resident !== null) samples.get(name)?.push(resident);
    }
  }, everyMs).unref();
  return {
    finish: () => {
      clearInterval(timer);
      const uses = [...pids].map(([name, pid]) => [name, toUse(samples.get(name) ?? [], peakMbOf(pid))] as const);
      return new Map(uses.filter((use): use is readonly [string, MemoryUse] => use[1] !== null));
    },
  };
}

function toUse(samples: readonly number[], peakMb: number | null): MemoryUse | null {
  const half = Math.floor(samples.length / 2);
  if (half === 0 || peakMb === null) return null;
  return { peakMb, growth: median(samples.slice(half)) / median(samples.slice(0, half)) };
}
