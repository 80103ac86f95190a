import { writeFile } from "node:fs/promises";
import process from "node:process";
import type { Lifecycle } from "../../src/lifecycle.ts";
import { allMeasurements } from "./all-measurements.ts";
import { type Ground, layGround } from "./ground.ts";
import { describeMachine } from "./machine.ts";
import { createOwnLifecycle, type Failure, measureWithin } from "./measure-within.ts";
import { type Options, readOptions } from "./options.ts";
import { holds, type Row } from "./row.ts";
import { heading, toFailure, toLines, toSummary } from "./table.ts";

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

let running: Lifecycle | null = null;
let isInterrupted = false;
const servers = createOwnLifecycle(print);

/** Prints each row as soon as it is measured; 0 where each of them keeps its target. */
async function runBench(ground: Ground, options: Options): Promise<number> {
  const { only, rounds, quick, json } = options;
  const startedAt = Date.now();
  const machine = describeMachine(ground);
  for (const [what, value] of Object.entries(machine)) print(`${what}: ${value}`);
  print(`rounds: ${rounds}${quick ? ", quick: too small to be held against a target" : ""}\n\n${heading}`);
  const measured: Row[] = [];
  const failed: Failure[] = [];
  for (const measurement of allMeasurements.filter(({ rows }) => rows.some((name) => name.includes(only)))) {
    if (isInterrupted) break;
    running = createOwnLifecycle(print);
    const { rows, failures } = await measureWithin(measurement, ground, options, running);
    for (const line of rows.flatMap(toLines)) print(line);
    for (const { name, reason } of failures) print(toFailure(name, reason));
    measured.push(...rows);
    failed.push(...failures);
  }
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  print(`\n${toSummary(measured, failed.length)}; ${seconds} s`);
  const everything = { startedAt: new Date(startedAt), seconds, options, machine, rows: measured, failures: failed };
  await writeFile(json, JSON.stringify(everything, null, 2));
  print(`every round: ${json}`);
  return failed.length === 0 && measured.every(holds) ? 0 : 1;
}

/** What was started must not outlive an interrupted run. */
const stopAll = async (): Promise<void> => {
  await running?.stop();
  await servers.stop();
};
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    isInterrupted = true;
    void stopAll().finally(() => process.exit(1));
  });
}

function readCommandLine(): Options | null {
  try {
    const rowNames = allMeasurements.flatMap(({ rows }) => rows);
    return readOptions(process.argv.slice(2), rowNames);
  } catch (failure) {
    process.stderr.write(`${failure instanceof Error ? failure.message : String(failure)}\n`);
    return null;
  }
}

const options = readCommandLine();
if (options === null) {
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await runBench(await layGround(servers), options);
  } finally {
    await stopAll();
  }
}
