import type { Command } from "commander";
import { allProjectors } from "../../projections/all-projectors.ts";
import type { Progress } from "../../projections/following/catch-up.ts";
import { createContentReader } from "../../projections/following/content-reader.ts";
import { migrate } from "../../projections/migrate.ts";
import type { Projector } from "../../projections/projector.ts";
import { confirmRebuilds, readTableSets } from "../../projections/rebuilding/kept-tables.ts";
import { rebuild } from "../../projections/rebuilding/rebuild.ts";
import { RebuildRefused } from "../../projections/rebuilding/rebuild-lock.ts";
import type { RebuildSetup } from "../../projections/rebuilding/replace-live.ts";
import { NothingToPutBack, rollBackRebuilds } from "../../projections/rebuilding/roll-back.ts";
import { TableHeld } from "../database/table-held.ts";
import type { Parts } from "../roles/parts.ts";
import { addYes, askFirst, type YesOption } from "./ask-first.ts";
import { checkReadModels } from "./check-read-models.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onReadModels } from "./on-servers.ts";
import { toDuration } from "./progress-line.ts";
import { printTable } from "./table.ts";

const modes = ["check", "confirm", "rollback", "status"] as const;

const questions = {
  confirm: "Drop the old tables of",
  rollback: "Restore the old tables of",
  rebuild: "Rebuild",
} as const;

type Options = YesOption & { readonly [Mode in (typeof modes)[number]]?: boolean } & {
  readonly values?: boolean;
  readonly json?: boolean;
};

/** `rebuild [projection…]`: rebuilds the named read models, or all of them if none is named, while the service runs. */
export function addRebuildCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("rebuild")
    .description("rebuild read models from the log, without downtime; continues an interrupted rebuild")
    .argument("[projection...]", `${allProjectors.map(({ name }) => name).join(", ")}; all of them by default`)
    .option("--check", "only compare the rows with the log, and exit with 1 if they differ; changes nothing")
    .option("--values", "with --check: also show the values that differ, which can be addresses and subjects")
    .option("--confirm", "drop the old tables that rebuilds kept")
    .option("--rollback", "restore the old tables that rebuilds kept, and keep the new ones")
    .option("--status", "show which tables exist")
    .option("--json", "one line of JSON for each read model")
    .action((names: string[], options: Options) => rebuildReadModels(context, names, options));
  addYes(command);
  explain(command, {
    examples: [
      "waybill rebuild",
      "waybill rebuild jobs --check",
      "waybill rebuild jobs --rollback",
      "waybill rebuild --confirm",
    ],
    asks: "servers",
    exits: ["done; with --check: the rows match the log", "failed; with --check: or some rows differ"],
    notes: "The old tables are kept until --confirm, or until data that they still contain is erased.",
  });
}

async function rebuildReadModels(context: CommandContext, names: readonly string[], options: Options): Promise<void> {
  const known = allProjectors.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new WrongUsage(`There is no projection ${unknown.join(", ")}; expected some of ${known.join(", ")}`);
  }
  const chosen = modes.filter((mode) => options[mode] === true);
  if (chosen.length > 1) throw new WrongUsage(`Only one of ${chosen.map((mode) => `--${mode}`).join(", ")} at a time`);
  const [mode = null] = chosen;
  if (options.values === true && mode !== "check") throw new WrongUsage("--values goes with --check");
  const wanted = names.length === 0 ? allProjectors : allProjectors.filter(({ name }) => names.includes(name));
  await onReadModels(context, async (parts) => {
    if (mode !== "check" && mode !== "status") {
      const models = wanted.length === allProjectors.length ? "all read models" : names.join(", ");
      await askFirst(context, `${questions[mode ?? "rebuild"]} ${models}?`, options);
    }
    await migrate(parts.db, allProjectors);
    await explaining(context, mode, () => {
      if (mode === "check") {
        return checkReadModels(context, wanted, { ...sourcesOf(parts), onProgress: printProgress(context) }, options);
      }
      if (mode === "confirm") return confirm(context, wanted, parts, options);
      if (mode === "status") return showTables(context, wanted, parts, options);
      return mode === "rollback"
        ? rollBack(context, wanted, parts, options)
        : rebuildAll(context, wanted, parts, options);
    });
  });
}

async function rebuildAll(
  context: CommandContext,
  wanted: readonly Projector[],
  parts: Parts,
  { json }: Options,
): Promise<void> {
  const sets = await readTableSets(parts.db, wanted);
  for (const { projection, kept } of sets) {
    if (kept !== null) context.tell(`${projection}: the tables that an earlier rebuild kept will be replaced.`);
  }
  const onRebuilt = (name: string, isKept: boolean): void => {
    const remedy = `The old tables are kept: "waybill rebuild ${name} --confirm" drops them, --rollback restores them.`;
    context.print(json ? asJson(name, "rebuilt", isKept) : `${name}: rebuilt.${isKept ? ` ${remedy}` : ""}`);
  };
  await rebuild(wanted, setupOf(context, parts, onRebuilt));
}

/** If all read models are chosen, rolls back only those with kept tables. */
async function rollBack(
  context: CommandContext,
  wanted: readonly Projector[],
  parts: Parts,
  { json }: Options,
): Promise<void> {
  const sets = await readTableSets(parts.db, wanted);
  const kept = sets.flatMap(({ projection, kept: checkpoint }) => (checkpoint === null ? [] : [projection]));
  const isAll = wanted.length === allProjectors.length;
  const projectors = isAll ? wanted.filter(({ name }) => kept.includes(name)) : wanted;
  if (projectors.length === 0) throw new NothingToPutBack("There are no kept tables to restore.");
  const onRebuilt = (name: string): void =>
    context.print(json ? asJson(name, "rolled-back", true) : `${name}: the old tables are back, the others are kept.`);
  await rollBackRebuilds(projectors, setupOf(context, parts, onRebuilt));
}

async function confirm(
  context: CommandContext,
  wanted: readonly Projector[],
  { db }: Parts,
  { json }: Options,
): Promise<void> {
  const dropped = await confirmRebuilds(db, wanted);
  for (const name of dropped) {
    context.print(json ? asJson(name, "confirmed", false) : `${name}: the kept tables were dropped.`);
  }
  if (dropped.length === 0) context.tell("No tables were kept.");
}

async function showTables(
  context: CommandContext,
  wanted: readonly Projector[],
  { db }: Parts,
  { json }: Options,
): Promise<void> {
  type Found = { readonly version: number; readonly sequence: number } | null;
  const shown = (found: Found): string | null =>
    found === null ? null : `version ${found.version}, event ${found.sequence}`;
  const sets = await readTableSets(db, wanted);
  if (json) {
    for (const set of sets) context.print(JSON.stringify(set));
    return;
  }
  const rows = sets.map(({ projection, status, isAtWork, live, kept, next }) => ({
    PROJECTION: projection,
    STATUS: isAtWork ? "rebuilding" : status,
    LIVE: shown(live),
    KEPT: shown(kept),
    "IN THE MAKING": shown(next),
  }));
  const columns = ["PROJECTION", "STATUS", "LIVE", "KEPT", "IN THE MAKING"] as const;
  printTable(context, columns, rows);
}

/** `keptOld`: whether the old tables can still be restored. */
const asJson = (projection: string, done: string, keptOld: boolean): string =>
  JSON.stringify({ projection, done, keptOld });

const sourcesOf = ({ db, log, contentStore }: Parts) => ({
  db,
  log,
  sources: { readContent: createContentReader(contentStore) },
});

const setupOf = (context: CommandContext, parts: Parts, onRebuilt: RebuildSetup["onRebuilt"]): RebuildSetup => ({
  ...sourcesOf(parts),
  announcements: parts.announcements,
  onProgress: printProgress(context),
  onKeys: (name) => context.tell(`${name}: every event is there; the server adds the keys of its tables.`),
  onRebuilt,
  signal: context.interrupted,
});

/** Turns failures that the user can act on into one line. */
async function explaining(context: CommandContext, mode: string | null, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (failure) {
    if (context.interrupted.aborted) {
      throw new CommandFailed(mode === null ? "Interrupted. The next rebuild continues from here." : "Interrupted.");
    }
    const explained = [RebuildRefused, NothingToPutBack, TableHeld].some((kind) => failure instanceof kind);
    throw explained ? new CommandFailed((failure as Error).message) : failure;
  }
}

/**
 * Prints at most one line a second for each read model, the first after a second: what the first events took says little
 * of the others. Unlike the progress bar it overwrites nothing, so it reads well in a pipe.
 */
function printProgress({ tell }: CommandContext): (progress: Progress) => void {
  const printedAt = new Map<string, number>();
  return ({ projection, sequence, lastSequence, eventsPerSecond, secondsLeft }) => {
    const before = printedAt.get(projection);
    if (before !== undefined && performance.now() - before < 1000) return;
    printedAt.set(projection, performance.now());
    if (before === undefined) return;
    const left = secondsLeft > 0 ? `, ${toDuration(secondsLeft)} left` : "";
    tell(`${projection}: ${sequence} of ${lastSequence} events, ${Math.round(eventsPerSecond)} a second${left}`);
  };
}
