import { readFileSync } from "node:fs";

/** The unit of utime and stime, the same on every Linux that Node runs on. */
const microsPerTick = 10_000;

/** The CPU time that a process has used so far, all its threads, user and system; null where /proc does not tell. */
export const cpuMicrosOf = (pid: number): number | null => microsOf(pid, "utime");

/** That of the processes that it started and that have ended. */
export const cpuMicrosOfChildren = (pid: number): number | null => microsOf(pid, "cutime");

/** Where the time in user mode stands behind the program's name; that in the system follows. */
const places = { utime: 11, cutime: 13 } as const;

function microsOf(pid: number, field: keyof typeof places): number | null {
  const stat = readProc(pid, "stat");
  if (stat === null) return null;
  // The second field is the program's name in brackets, which may hold anything; utime and stime are 14 and 15.
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(places[field], places[field] + 2)
    .map(Number);
  return ((user ?? 0) + (system ?? 0)) * microsPerTick;
}

/** The memory that a process holds now; null where /proc does not tell. */
export const residentMbOf = (pid: number): number | null => readStatusMb(pid, "VmRSS");

/** The most memory that a process ever held; null where /proc does not tell. */
export const peakMbOf = (pid: number): number | null => readStatusMb(pid, "VmHWM");

export type Pids = ReadonlyMap<string, number>;
export type CpuMicros = Readonly<Record<string, number>>;

/** What each process used while the work was done; null where /proc does not tell, or a process ended meanwhile. */
export async function countingCpu<Result>(
  pids: Pids,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly cpuMicros: CpuMicros | null }> {
  const before = readAll(pids);
  const result = await work();
  const after = readAll(pids);
  if (before === null || after === null) return { result, cpuMicros: null };
  const used = Object.entries(after).map(([name, micros]) => [name, micros - (before[name] ?? 0)] as const);
  return { result, cpuMicros: Object.fromEntries(used) };
}

export const sumOf = (cpuMicros: CpuMicros): number =>
  Object.values(cpuMicros).reduce((sum, micros) => sum + micros, 0);

function readAll(pids: Pids): CpuMicros | null {
  const read = [...pids].map(([name, pid]) => [name, cpuMicrosOf(pid)] as const);
  return read.some(([, micros]) => micros === null) ? null : (Object.fromEntries(read) as CpuMicros);
}

function readStatusMb(pid: number, field: string): number | null {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readProc(pid, "status") ?? "");
  return line === null ? null : Number(line[1]) / 1024;
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return null;
  }
}
