import { allProjectors } from "../../projections/all-projectors.ts";
import type { Progress } from "../../projections/catch-up.ts";
import { createContentReader } from "../../projections/content-reader.ts";
import { migrate } from "../../projections/migrate.ts";
import { RebuildRefused, rebuild } from "../../projections/rebuild.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { onReadModels } from "./on-read-models.ts";
import { WrongUsage } from "./wrong-usage.ts";

/** Rebuilds the named read models from the log, all of them where none is named, while the service goes on. */
export async function rebuildReadModels(context: CommandContext, names: readonly string[]): Promise<void> {
  const known = allProjectors.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new WrongUsage(`There is no projection ${unknown.join(", ")}; expected some of ${known.join(", ")}`);
  }
  const wanted = names.length === 0 ? allProjectors : allProjectors.filter(({ name }) => names.includes(name));
  await onReadModels(context, async ({ db, log, contentStore, announcements }) => {
    await migrate(db, allProjectors);
    const sources = { readContent: createContentReader(contentStore) };
    const onRebuilt = (name: string): void => context.print(`${name}: rebuilt.`);
    const setup = { db, log, sources, announcements, onProgress: teller(context), onRebuilt };
    await rebuild(wanted, setup).catch((failure: unknown) => {
      throw failure instanceof RebuildRefused ? new CommandFailed(failure.message) : failure;
    });
  });
}

/** A line a second at most for each: in a terminal it overwrites itself elsewhere; here it has to read well in a pipe. */
function teller({ tell }: CommandContext): (progress: Progress) => void {
  const toldAt = new Map<string, number>();
  return ({ projection, sequence, lastSequence, eventsPerSecond }) => {
    if (performance.now() - (toldAt.get(projection) ?? Number.NEGATIVE_INFINITY) < 1000) return;
    toldAt.set(projection, performance.now());
    tell(`${projection}: ${sequence} of ${lastSequence} events, ${Math.round(eventsPerSecond)} a second`);
  };
}
