import type { Command } from "commander";
import type { Json } from "../client/service.ts";
import { recipientStatuses } from "../domain/recipients/recipient-status.ts";
import type { CommandContext } from "./command-context.ts";
import { explain } from "./explain.ts";
import { pathOf } from "./job-lines.ts";
import { onService } from "./on-service.ts";
import { printable } from "./table.ts";

type Options = { readonly status?: string; readonly email?: string; readonly json?: boolean };

/** `jobs recipients`. */
export function addRecipients(jobs: Command, context: CommandContext): void {
  const command = jobs
    .command("recipients")
    .description("the current status of each recipient, with the reason for a failure")
    .argument("<id>", "id of the job, as jobs list shows it")
    .option("--status <statuses>", `only these, separated by commas: ${recipientStatuses.join(", ")}`)
    .option("--email <address>", "only this recipient")
    .option("--json", "one line of JSON for each recipient")
    .action((id: string, options: Options) => show(context, id, options));
  explain(command, {
    examples: ["waybill jobs recipients <id>", "waybill jobs recipients <id> --status failed,unknown --json"],
    asks: "service",
    notes: "The columns: status, number of attempts, address, last answer. For every attempt: waybill jobs logs.",
  });
}

async function show(context: CommandContext, id: string, { json, ...filter }: Options): Promise<void> {
  let count = 0;
  await onService(context, async (service) => {
    let cursor: number | null = null;
    do {
      const query = new URLSearchParams({ ...filter, pageSize: "1000" });
      if (cursor !== null) query.set("cursor", String(cursor));
      const { body } = await service.ask(pathOf(id, `/recipients?${query}`));
      for (const recipient of body.data) context.print(json ? JSON.stringify(recipient) : toLine(recipient));
      count += body.data.length;
      cursor = body.pagination.nextCursor;
    } while (cursor !== null);
  });
  if (count === 0) context.tell("There are no such recipients.");
}

const toLine = ({ status, attempts, email, response, error }: Json): string =>
  printable(`${String(status).padEnd(10)} ${attempts}  ${email ?? "(erased)"}  ${response ?? error?.message ?? ""}`);
