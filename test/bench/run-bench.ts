import { writeFile } from "node:fs/promises";
import process from "node:process";
import type { Lifecycle } from "../../src/process/lifecycle.ts";
import { allMeasurements } from "./all-measurements.ts";
import { layGround } from "./ground.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { createOwnLifecycle, measureWithin, type Outcome } from "./measure-within.ts";
import { type Options, readOptions } from "./options.ts";
import { holds } from "./row.ts";
import { heading, toLines, toReason, toSummary } from "./table.ts";

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

let running: Lifecycle | null = null;
let isInterrupted = false;

/** Prints each row as soon as it is measured; 0 where each of them keeps its targets. */
async function runBench(options: Options): Promise<number> {
  const startedAt = Date.now();
  const machine = await describeServers();
  for (const [what, value] of Object.entries(machine)) print(`${what}: ${value}`);
  const remark = options.quick ? ", quick: too small to be held against a target" : "";
  print(`cold: once; warm: median of ${options.rounds}${remark}\n\n${heading}`);
  const outcomes: Outcome[] = [];
  for (const measurement of allMeasurements.filter(({ name }) => name.includes(options.only))) {
    if (isInterrupted) break;
    running = createOwnLifecycle();
    const outcome = await measureWithin(measurement, options, running);
    printOutcome(outcome);
    outcomes.push(outcome);
  }
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const rows = outcomes.flatMap((outcome) => (outcome.kind === "measured" ? [outcome.row] : []));
  const failed = outcomes.filter(({ kind }) => kind === "FAILED").length;
  print(`\n${toSummary(rows, failed, outcomes.length - rows.length - failed)}; ${seconds} s`);
  const everything = { startedAt: new Date(startedAt), seconds, options, machine, outcomes };
  await writeFile(options.json, JSON.stringify(everything, null, 2));
  print(`every round: ${options.json}`);
  return failed === 0 && rows.every(holds) ? 0 : 1;
}

function printOutcome(outcome: Outcome): void {
  const lines =
    outcome.kind === "measured" ? toLines(outcome.row) : [toReason(outcome.name, outcome.kind, outcome.reason)];
  for (const line of lines) print(line);
}

async function describeServers(): Promise<Machine> {
  running = createOwnLifecycle();
  try {
    return await describeMachine(await layGround(running));
  } finally {
    await running.stop();
  }
}

// A started part must not outlive an interrupted run.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    isInterrupted = true;
    void Promise.resolve(running?.stop()).finally(() => process.exit(1));
  });
}

function readCommandLine(): Options | null {
  try {
    return readOptions(
      process.argv.slice(2),
      allMeasurements.map(({ name }) => name),
    );
  } catch (failure) {
    process.stderr.write(`${failure instanceof Error ? failure.message : String(failure)}\n`);
    return null;
  }
}

const options = readCommandLine();
process.exitCode = options === null ? 2 : await runBench(options);
