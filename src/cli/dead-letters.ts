import type { Command } from "commander";
import {
  actOnFilter,
  addFilter,
  type BulkOptions,
  type FilterOptions,
  filterFrom,
  filterInstead,
} from "./act-on-filter.ts";
import { addYes, askFirst } from "./ask-first.ts";
import type { Json } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onService } from "./on-service.ts";
import { readCursorPages, readLimit } from "./read-cursor-pages.ts";
import { serviceAddress } from "./service-address.ts";
import { printTable } from "./table.ts";

type ListOptions = { readonly status: string; readonly limit: string; readonly json?: boolean };
type CausesOptions = Pick<ListOptions, "status" | "json">;
type DecideOptions = BulkOptions & { readonly reason?: string };
type Decision = "requeue" | "ignore";

const filter: FilterOptions = {
  path: "/api/dead-letters/bulk",
  one: "dead letter",
  many: "dead letters",
  options: [
    ["--cause <text>", "the open ones with this cause, as dead-letters causes shows it"],
    ["--code <code>", "the open ones with this code of an error"],
  ],
  read: filterFrom(["code", "cause"]),
};

/** `dead-letters list|causes|requeue|ignore`. */
export function addDeadLetterCommands(program: Command, context: CommandContext): void {
  const group = program
    .command("dead-letters")
    .description("jobs that failed for good, and what is decided about them");
  const list = group
    .command("list")
    .description("list the dead letters that wait for a decision, newest first")
    .option("--status <status>", "open, requeued, ignored or retried, or all", "open")
    .option("--limit <n>", "the largest number of dead letters to show", "20")
    .option("--json", "as JSON")
    .action((options: ListOptions) => listLetters(context, options));
  explain(list, {
    examples: ["waybill dead-letters list", "waybill dead-letters list --status all --limit 100 --json"],
    asks: "service",
  });
  const causes = group
    .command("causes")
    .description("why jobs failed for good, and how many dead letters there are of each cause")
    .option("--status <status>", "open, requeued, ignored or retried, or all", "open")
    .option("--json", "as JSON")
    .action((options: CausesOptions) => listCauses(context, options));
  explain(causes, { examples: ["waybill dead-letters causes"], asks: "service" });
  const deciding = (name: Decision, description: string): Command =>
    addYes(
      addFilter(
        group
          .command(name)
          .description(description)
          .argument("[id...]", "ids of dead letters, as dead-letters list shows them"),
        filter,
      ).option("--json", "one line of JSON for each dead letter"),
    );
  const requeue = deciding("requeue", "run failed jobs again as new jobs, for the recipients who were not reached")
    .option("--reason <text>", "recorded in the history, together with the caller")
    .action((ids: string[], options: DecideOptions) => decide(context, "requeue", ids, options));
  explain(requeue, {
    examples: [
      "waybill dead-letters requeue <id>",
      'waybill dead-letters requeue <id> <id> --reason "server is back"',
      'waybill dead-letters requeue --cause "5.2.2 Mailbox full" --dry-run',
    ],
    asks: "service",
    exits: ["done", "failed for at least one dead letter"],
  });
  const ignore = deciding("ignore", "set dead letters aside")
    .requiredOption("--reason <text>", "recorded in the history, together with the caller")
    .action((ids: string[], options: DecideOptions) => decide(context, "ignore", ids, options));
  explain(ignore, {
    examples: [
      'waybill dead-letters ignore <id> --reason "the event is over"',
      'waybill dead-letters ignore --code too-many-failures --reason "the event is over"',
    ],
    asks: "service",
    exits: ["done", "failed for at least one dead letter"],
  });
}

async function listLetters(context: CommandContext, { status, limit, json }: ListOptions): Promise<void> {
  const wanted = readLimit(limit);
  const filter: Record<string, string> = status === "all" ? {} : { status };
  const found = await onService(context, (service) => readCursorPages(service, "/api/dead-letters", filter, wanted));
  if (json) return context.print(JSON.stringify(found));
  if (found.length === 0) return context.tell("There are no such dead letters.");
  const rows = found.map((letter) => ({ ...letter, failed: letter.progress?.failed ?? null, error: errorOf(letter) }));
  printTable(context, ["id", "status", "failedAt", "failed", "subject", "error"], rows);
}

async function listCauses(context: CommandContext, { status, json }: CausesOptions): Promise<void> {
  const query = status === "all" ? "" : `?${new URLSearchParams({ status })}`;
  const { body } = await onService(context, (service) => service.ask(`/api/dead-letters/causes${query}`));
  if (json) return context.print(JSON.stringify(body.data));
  if (body.data.length === 0) return context.tell("There are no such dead letters.");
  printTable(context, ["letters", "code", "cause"], body.data);
}

const errorOf = ({ error }: Json): string => `${error.code}: ${error.message}`;

/** One that cannot be decided does not stop the command from deciding the others. */
async function decide(
  context: CommandContext,
  decision: Decision,
  ids: readonly string[],
  options: DecideOptions,
): Promise<void> {
  const { json, yes, reason } = options;
  const found = filterInstead(ids, filter, options);
  if (found !== null) return await actOnFilter(context, filter, { action: decision, filter: found, reason }, options);
  if (decision === "requeue" && ids.length > 1) {
    const { url } = serviceAddress(context);
    await askFirst(context, `Requeue ${ids.length} dead letters of ${url}?`, { yes, count: ids.length });
  }
  const refused: string[] = [];
  for (const id of ids) {
    const asked = { method: "POST", body: { reason } } as const;
    const path = `/api/dead-letters/${encodeURIComponent(id)}/${decision}`;
    try {
      const { body } = await onService(context, (service) => service.ask(path, asked));
      if (json) context.print(JSON.stringify(body));
      else context.print(decision === "requeue" ? `${id} runs again as job ${body.jobId}` : `${id} is ${body.status}`);
    } catch (failure) {
      if (!(failure instanceof CommandFailed) || context.interrupted.aborted) throw failure;
      refused.push(ids.length === 1 ? failure.message : `${id}: ${failure.message}`);
    }
  }
  if (refused.length > 0) throw new CommandFailed(refused.join("\n"));
}
