import type { Command } from "commander";
import type { Json, Service } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { WrongUsage } from "./command-failed.ts";
import type { Kind } from "./job-lines.ts";
import { onService } from "./on-service.ts";
import { printTable } from "./table.ts";

export type ListOptions = { readonly json?: boolean; readonly limit: string };

/** The options that every list has. */
export const addListOptions = (command: Command, { many }: Kind): Command =>
  command.option("--limit <n>", `the largest number of ${many} to show`, "20").option("--json", "as JSON");

const mostPerPage = 100;

/** Prints the jobs or mailings that the filter of the API lets through, as a table or as JSON. */
export async function list(
  context: CommandContext,
  { many }: Kind,
  filter: Readonly<Record<string, string>>,
  { json, limit }: ListOptions,
): Promise<void> {
  const wanted = Number(limit);
  if (!/^\d{1,15}$/.test(limit) || wanted < 1) throw new WrongUsage(`--limit is ${limit}; expected 1 or more`);
  const found = await onService(context, (service) => readPages(service, `/api/${many}`, filter, wanted));
  if (json) return context.print(JSON.stringify(found));
  if (found.length === 0) return context.tell(`There are no such ${many}.`);
  const columns = ["id", "status", "sent", "failed", "total", "createdAt", "subject"] as const;
  const rows = found.map(({ progress: { sent, failed, total }, ...one }) => ({ ...one, sent, failed, total }));
  printTable(context, columns, rows);
}

async function readPages(
  service: Service,
  path: string,
  filter: Readonly<Record<string, string>>,
  wanted: number,
): Promise<readonly Json[]> {
  const found: Json[] = [];
  let cursor: string | null = null;
  while (found.length < wanted) {
    const query = new URLSearchParams({ ...filter, pageSize: String(Math.min(mostPerPage, wanted - found.length)) });
    if (cursor !== null) query.set("cursor", cursor);
    const { body } = await service.ask(`${path}?${query}`);
    found.push(...body.data);
    cursor = body.pagination.nextCursor;
    // A page of a search may be empty, and the next one not.
    if (cursor === null) break;
  }
  return found;
}
