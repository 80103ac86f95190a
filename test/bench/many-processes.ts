import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../support/eventually.ts";
import { type LaunchedWaybill, launchWaybill, type Surroundings } from "../support/waybill.ts";
import { cpuMicrosOf } from "./process-usage.ts";
import type { Stage } from "./row.ts";

/** On few cores, a hundred processes take minutes to compile their code. */
const readyWithinMs = 600_000;
const settleMs = 20_000;
const idleMs = 60_000;

/** Starts so many processes of one role at the same moment. */
export function launchMany(
  { lifecycle }: Stage,
  surroundings: Surroundings,
  count: number,
  role: string,
): readonly LaunchedWaybill[] {
  const launched = Array.from({ length: count }, () => launchWaybill(surroundings, role, { LOG_LEVEL: "info" }));
  lifecycle.started(`${count} × ${role}`, async () => {
    await Promise.all(launched.map((process) => process.kill()));
  });
  return launched;
}

/** Waits until each process is ready or has ended; answers how many have ended. */
export async function untilReady(launched: readonly LaunchedWaybill[]): Promise<number> {
  await eventually(() => {
    const starting = launched.filter(({ isReady, hasEnded }) => !hasEnded() && !isReady());
    if (starting.length > 0) throw new Error(`${starting.length} processes are not ready`);
  }, readyWithinMs);
  return launched.filter(({ hasEnded }) => hasEnded()).length;
}

/** What each process takes of a core over a minute in which nothing happens, in per cent. */
export async function idleLoadOf(pids: readonly number[]): Promise<readonly number[]> {
  await pause(settleMs);
  const microsOf = (): readonly number[] => pids.map((pid) => cpuMicrosOf(pid) ?? 0);
  const before = microsOf();
  await pause(idleMs);
  const after = microsOf();
  return after.map((micros, index) => (micros - (before[index] ?? 0)) / (idleMs * 10));
}
