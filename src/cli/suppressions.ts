import { createReadStream } from "node:fs";
import { extname } from "node:path";
import type { Command } from "commander";
import { suppressionReasons } from "../domain/recipients/events.ts";
import type { Json } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onService } from "./on-service.ts";
import { readCursorPages, readLimit } from "./read-cursor-pages.ts";
import { readText } from "./read-letter.ts";
import { printTable } from "./table.ts";

type JsonOption = { readonly json?: boolean };
type ListOptions = JsonOption & { readonly email?: string; readonly limit: string };
type ReasonOption = JsonOption & { readonly reason?: string };

const reasonOption = ["--reason <reason>", `one of ${suppressionReasons.join(", ")}; manual by default`] as const;

/** `suppressions list|add|remove|import|export`. */
export function addSuppressionCommands(program: Command, context: CommandContext): void {
  const group = program.command("suppressions").description("the addresses that are never mailed");
  const list = group
    .command("list")
    .description("list the addresses that are never mailed, in the order in which they were added")
    .option("--email <address>", "only this address")
    .option("--limit <n>", "the largest number of addresses to show", "20")
    .option("--json", "as JSON")
    .action((options: ListOptions) => listSuppressions(context, options));
  explain(list, {
    examples: ["waybill suppressions list", "waybill suppressions list --email ada@example.com --json"],
    asks: "service",
  });
  const add = group
    .command("add")
    .description("never mail an address again")
    .argument("<address>", "the address")
    .option(...reasonOption)
    .option("--json", "as JSON")
    .action((email: string, options: ReasonOption) => addSuppression(context, email, options));
  explain(add, { examples: ["waybill suppressions add ada@example.com --reason complaint"], asks: "service" });
  const remove = group
    .command("remove")
    .description("take an address from the list; it may be mailed again")
    .argument("<address>", "the address")
    .option("--json", "as JSON")
    .action((email: string, options: JsonOption) => removeSuppression(context, email, options));
  explain(remove, { examples: ["waybill suppressions remove ada@example.com"], asks: "service" });
  addFiles(group, context);
}

function addFiles(group: Command, context: CommandContext): void {
  const importing = group
    .command("import")
    .description("add the addresses in a file to the list; if a line is wrong, none of them")
    .argument("<file>", "CSV with a column email, or NDJSON with the extension .ndjson")
    .option(...reasonOption)
    .option("--json", "as JSON")
    .action((file: string, options: ReasonOption) => importList(context, file, options));
  explain(importing, {
    examples: ["waybill suppressions import bounced.csv --reason hard-bounce"],
    asks: "service",
    notes: "Entries that are on the list stay as they are, so the command can be repeated.",
  });
  const exporting = group
    .command("export")
    .description("write the whole list to standard output as CSV")
    .option("--json", "as lines of JSON")
    .action((options: JsonOption) => exportList(context, options));
  explain(exporting, { examples: ["waybill suppressions export > suppressions.csv"], asks: "service" });
}

async function listSuppressions(context: CommandContext, { email, limit, json }: ListOptions): Promise<void> {
  const wanted = readLimit(limit);
  const filter: Record<string, string> = email === undefined ? {} : { email };
  const found = await onService(context, (service) => readCursorPages(service, "/api/suppressions", filter, wanted));
  if (json) return context.print(JSON.stringify(found));
  if (found.length === 0) return context.tell("There are no such addresses on the list.");
  printTable(
    context,
    ["email", "reason", "createdAt"],
    found.map((one: Json) => ({ ...one, email: one.email ?? "(erased)" })),
  );
}

async function addSuppression(context: CommandContext, email: string, { reason, json }: ReasonOption): Promise<void> {
  const asked = { method: "POST", body: { email, reason } } as const;
  const { status, body } = await onService(context, (service) => service.ask("/api/suppressions", asked));
  if (json) return context.print(JSON.stringify(body));
  context.print(`${email} is on the list${status === 201 ? "" : `, since ${body.createdAt}`} (${body.reason}).`);
}

async function removeSuppression(context: CommandContext, email: string, { json }: JsonOption): Promise<void> {
  const path = `/api/suppressions/${encodeURIComponent(email)}`;
  await onService(context, (service) => service.ask(path, { method: "DELETE" }));
  context.print(json ? JSON.stringify({ email, removed: true }) : `${email} may be mailed again.`);
}

async function importList(context: CommandContext, file: string, { reason, json }: ReasonOption): Promise<void> {
  // Refuses a file that cannot be read before the service is asked. The service takes lists of some megabytes.
  if ((await readText(file)).trim() === "") throw new WrongUsage(`${file} is empty`);
  const type = extname(file) === ".ndjson" ? "application/x-ndjson" : "text/csv";
  const query = reason === undefined ? "" : `?${new URLSearchParams({ reason })}`;
  const upload = { type, open: () => createReadStream(file) };
  const { body } = await onService(context, (service) =>
    service.ask(`/api/suppressions/import${query}`, { method: "POST", upload }),
  );
  if (json) return context.print(JSON.stringify(body));
  context.print(`${body.added} addresses added, ${body.existing} were on the list.`);
}

async function exportList(context: CommandContext, { json }: JsonOption): Promise<void> {
  const [format, type] = json ? ["ndjson", "application/x-ndjson"] : ["csv", "text/csv"];
  await onService(context, async (service) => {
    for await (const line of service.lines(`/api/suppressions/export?format=${format}`, type ?? "")) {
      if (line !== "") context.print(line.replace(/\r$/, ""));
    }
  });
}
