import type { Projector } from "../../projections/projector.ts";
import { type Checked, type CheckSetup, checkRows, NotComparable } from "../../projections/rebuilding/check-rows.ts";
import type { Difference } from "../../projections/rebuilding/compare-tables.ts";
import { printable } from "../process/terminal-line.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";

/** Compares read models with the log and prints the first differences. Throws CommandFailed if there are any. */
export async function checkReadModels(
  context: CommandContext,
  projectors: readonly Projector[],
  setup: Omit<CheckSetup, "onChecked" | "signal">,
  options: { readonly values?: boolean; readonly json?: boolean },
): Promise<void> {
  const different: string[] = [];
  const onChecked = ({ projection, sequence, differences }: Checked): void => {
    if (differences.length > 0) different.push(projection);
    if (options.json) {
      const shown = differences.map((difference) => describe(difference, options.values === true));
      context.print(JSON.stringify({ projection, sequence, differences: shown }));
      return;
    }
    const finding = differences.length > 0 ? "differs from the log" : "matches the log";
    context.print(`${projection}: ${finding}, as of event ${sequence}.`);
    for (const difference of differences) context.print(`  ${describe(difference, options.values === true)}`);
  };
  await checkRows(projectors, { ...setup, onChecked, signal: context.interrupted }).catch((failure: unknown) => {
    throw failure instanceof NotComparable ? new CommandFailed(failure.message) : failure;
  });
  if (different.length > 0) {
    throw new CommandFailed(`"waybill rebuild ${different.join(" ")}" rebuilds the rows.`);
  }
}

/** Keys are ids and numbers. Columns can hold addresses and subjects, so their values are shown only on request. */
function describe({ table, key, kind, columns }: Difference, withValues: boolean): string {
  const names = Object.entries(key).map(([name, value]) => `${name}=${shown(value)}`);
  const row = `${table} ${names.join(" ")}`;
  if (kind === "missing") return `${row}: the row is missing.`;
  if (kind === "surplus") return `${row}: the log does not give this row.`;
  const differing = Object.entries(columns).map(([name, { live, log }]) =>
    withValues ? `${name} is ${shown(live)}, the log gives ${shown(log)}` : name,
  );
  return `${row}: ${withValues ? "" : "differs in "}${differing.join(withValues ? "; " : ", ")}`;
}

const longestShown = 200;

function shown(value: unknown): string {
  const text =
    value instanceof Uint8Array
      ? `0x${Buffer.from(value).toString("hex")}`
      : value instanceof Date
        ? value.toISOString()
        : String(value);
  const whole = printable(text);
  return whole.length > longestShown ? `${whole.slice(0, longestShown)}…` : whole;
}
