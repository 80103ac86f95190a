import type { Command } from "commander";
import { askFirst, type YesOption } from "./ask-first.ts";
import type { Json, Service } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { onService } from "./on-service.ts";
import { createProgressLine, toNumber } from "./progress-line.ts";
import { serviceAddress } from "./service-address.ts";

type Words = Readonly<Record<string, string | undefined>>;

/** How a command may name many things without their ids. */
export type FilterOptions = {
  /** The call of the API that acts on many. */
  readonly path: string;
  readonly one: string;
  readonly many: string;
  /** Flags and meanings. */
  readonly options: readonly (readonly [flags: string, meaning: string])[];
  /** The filter of the API, from the options; null if none of them is given. */
  readonly read: (options: Words) => Readonly<Record<string, unknown>> | null;
};

/** A filter whose fields are the options as they were typed, but for those that are lists. */
export const filterFrom =
  (fields: readonly string[], lists: readonly string[] = []) =>
  (options: Words): Readonly<Record<string, unknown>> | null => {
    const given = fields.flatMap((field) => {
      const text = options[field];
      if (text === undefined) return [];
      return [[field, lists.includes(field) ? text.split(",").map((one) => one.trim()) : text] as const];
    });
    return given.length === 0 ? null : Object.fromEntries(given);
  };

export type BulkOptions = YesOption & { readonly json?: boolean; readonly dryRun?: boolean };

export const addFilter = (command: Command, { options, many }: FilterOptions): Command => {
  for (const [flags, meaning] of options) command.option(flags, `instead of ids: ${meaning}`);
  return command.option("--dry-run", `with a filter: only count the ${many} that it finds`);
};

/**
 * The filter that stands in for ids; null if ids are named. Throws WrongUsage where neither or both are given, so that no
 * command acts on everything because a word is missing.
 */
export function filterInstead(
  ids: readonly string[],
  { many, options, read }: FilterOptions,
  given: BulkOptions,
): Readonly<Record<string, unknown>> | null {
  const filter = read(given as Words);
  const names = options.map(([flags]) => flags.split(" ")[0]).join(", ");
  if (filter !== null && ids.length > 0) throw new WrongUsage(`Expected ids of ${many}, or ${names}; found both`);
  if (filter === null && ids.length === 0) throw new WrongUsage(`Expected ids of ${many}, or at least one of ${names}`);
  if (filter === null && given.dryRun) throw new WrongUsage(`--dry-run counts what a filter finds: ${names}`);
  return filter;
}

type Asked = {
  readonly action: string;
  readonly filter: Readonly<Record<string, unknown>>;
  readonly reason: string | undefined;
  readonly scope?: string | undefined;
};

/**
 * Counts what the filter finds, asks at a terminal, and acts on what was counted and on nothing that came later. It may be
 * interrupted and run again: what is done no longer matches the filter, or is left as it is.
 */
export async function actOnFilter(
  context: CommandContext,
  { path, one, many }: FilterOptions,
  asked: Asked,
  { json, yes, dryRun }: BulkOptions,
): Promise<void> {
  const counted = await onService(context, (service) => callFor(service, path, { ...asked, dryRun: true }));
  const { matched, asOf } = counted;
  const amount = (count: number): string => `${toNumber(count)} ${count === 1 ? one : many}`;
  if (dryRun && json) return context.print(JSON.stringify({ matched, asOf }));
  if (dryRun) return context.print(`${amount(matched)} ${matched === 1 ? "matches" : "match"}.`);
  if (matched === 0) return context.tell(`There are no such ${many} to ${asked.action}.`);
  await askFirst(context, `${asked.action} ${amount(matched)} of ${serviceAddress(context).url}?`, {
    yes,
    count: matched,
  });
  const progress = createProgressLine(context);
  const sum = { changed: 0, unchanged: 0 };
  const skipped: Json[] = [];
  try {
    let cursor: string | null = null;
    do {
      const part = cursor === null ? { expected: matched } : { cursor };
      const body: Json = await onService(context, (service) => callFor(service, path, { ...asked, asOf, ...part }));
      if (json) printPart(context, body);
      sum.changed += body.changed.length;
      sum.unchanged += body.unchanged;
      skipped.push(...body.skipped);
      cursor = body.nextCursor;
      progress.show(sum.changed + sum.unchanged + skipped.length, matched, many);
    } while (cursor !== null);
  } finally {
    progress.end();
  }
  const unchanged = sum.unchanged > 0 ? `; nothing to do for ${amount(sum.unchanged)}` : "";
  if (!json) context.print(`${asked.action}: done for ${amount(sum.changed)}${unchanged}.`);
  if (skipped.length > 0) throw new CommandFailed(reasonsOf(skipped, json === true));
}

const callFor = async (service: Service, path: string, body: object): Promise<Json> =>
  (await service.ask(path, { method: "POST", body })).body;

function printPart({ print }: CommandContext, { changed, skipped }: Json): void {
  for (const one of changed) print(JSON.stringify({ ...one, outcome: "changed" }));
  for (const one of skipped) print(JSON.stringify({ ...one, outcome: "skipped" }));
}

/** Each id with its reason; where the output names them already, only how many there are of each reason. */
function reasonsOf(skipped: readonly Json[], areNamed: boolean): string {
  if (!areNamed) return skipped.map(({ id, code }) => `${id}: ${code}`).join("\n");
  const codes = [...new Set<string>(skipped.map(({ code }) => code))];
  return codes.map((code) => `${skipped.filter((one) => one.code === code).length} skipped: ${code}`).join("\n");
}
