import type { Command } from "commander";
import { recipientFilters } from "../domain/recipients/recipient-status.ts";
import type { Json } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { explain } from "./explain.ts";
import type { Kind } from "./job-lines.ts";
import { onService } from "./on-service.ts";
import { toTable } from "./table.ts";

type Options = { readonly status?: string; readonly email?: string; readonly json?: boolean };

/** `recipients|logs|evidence` of a job or a mailing. */
export function addHistory(group: Command, context: CommandContext, kind: Kind): void {
  const { one, many } = kind;
  const ofOne = (name: string, description: string): Command =>
    group.command(name).description(description).argument("<id>", `id of the ${one}, as ${many} list shows it`);
  const recipients = ofOne("recipients", "the current status of each recipient, with the reason for a failure")
    .option("--status <statuses>", `only these, separated by commas: ${recipientFilters.join(", ")}`)
    .option("--email <address>", "only this recipient")
    .option("--json", "one line of JSON for each recipient")
    .action((id: string, options: Options) => showRecipients(context, kind, id, options));
  explain(recipients, {
    examples: [`waybill ${many} recipients <id>`, `waybill ${many} recipients <id> --status failed,unknown --json`],
    asks: "service",
    notes: `The answer is the last one of the mail server. For every attempt: waybill ${many} logs.`,
  });
  const logs = ofOne("logs", "every attempt for each recipient, including runs before a retry")
    .option("--status <status>", "success, failed, deferred, unknown, suppressed, bounced or complained")
    .option("--email <address>", "only this recipient")
    .option("--json", "one line of JSON for each entry")
    .action((id: string, options: Options) => showLogs(context, kind, id, options));
  explain(logs, {
    examples: [`waybill ${many} logs <id>`, `waybill ${many} logs <id> --status failed --json`],
    asks: "service",
    notes: `2.1 is the first attempt of the second run. For current statuses: waybill ${many} recipients.`,
  });
  const evidence = ofOne(
    "evidence",
    `write the ${one}'s history to standard output, as a file that proves it without a server`,
  ).action((id: string) => printEvidence(context, kind, id));
  explain(evidence, {
    examples: [`waybill ${many} evidence <id> > ${one}.ndjson`, `waybill verify ${one}.ndjson --key public-key.pem`],
    asks: "service",
    notes: `The file is lines of JSON and contains addresses. An auditor needs the public key of the service: GET /api/seals/key,
or waybill seals key on its machine.`,
  });
}

async function showRecipients(
  context: CommandContext,
  { pathOf }: Kind,
  id: string,
  { json, ...filter }: Options,
): Promise<void> {
  let count = 0;
  await onService(context, async (service) => {
    let cursor: number | string | null = null;
    do {
      const query = new URLSearchParams({ ...filter, pageSize: "1000" });
      if (cursor !== null) query.set("cursor", String(cursor));
      const { body } = await service.ask(pathOf(id, `/recipients?${query}`));
      if (json) for (const recipient of body.data) context.print(JSON.stringify(recipient));
      else printRows(context, body.data.map(toRecipientRow), count === 0);
      count += body.data.length;
      // A list without pages to jump to has its cursor at the top.
      cursor = (body.pagination ?? body).nextCursor;
    } while (cursor !== null);
  });
  if (count === 0) context.tell("There are no such recipients.");
}

/** The answers of mail servers are of any length, so they come last. */
const toRecipientRow = ({ status, attempts, email, response, error }: Json) => ({
  status,
  attempts,
  email: email ?? "(erased)",
  answer: response ?? error?.message ?? null,
});

/**
 * Prints a page of a table; the widths of later pages are their own. The names of the columns are for people only: standard
 * output has one line for each entry, as scripts count and search them.
 */
function printRows(context: CommandContext, rows: readonly Json[], isFirst: boolean): void {
  const [first] = rows;
  if (first === undefined) return;
  const [head = "", ...lines] = toTable(Object.keys(first), rows, context.paint);
  if (isFirst && context.isTerminal) context.tell(head);
  for (const line of lines) context.print(line);
}

async function showLogs(
  context: CommandContext,
  { pathOf }: Kind,
  id: string,
  { json, ...filter }: Options,
): Promise<void> {
  let count = 0;
  await onService(context, async (service) => {
    let path: string | null = pathOf(id, `/logs?${new URLSearchParams({ ...filter, limit: "1000" })}`);
    while (path !== null) {
      const { body, headers } = await service.ask(path);
      if (json) for (const entry of body) context.print(JSON.stringify(entry));
      else printRows(context, body.map(toLogRow), count === 0);
      count += body.length;
      path = /<([^>]+)>; rel="next"/.exec(headers.get("Link") ?? "")?.[1] ?? null;
    }
  });
  if (count === 0) context.tell("There are no such entries.");
}

const toLogRow = ({ createdAt, status, run, attempt, email, response, error }: Json) => ({
  createdAt,
  status,
  attempt: `${run}.${attempt}`,
  email: email ?? "(erased)",
  answer: response ?? error?.message ?? null,
});

async function printEvidence(context: CommandContext, { pathOf }: Kind, id: string): Promise<void> {
  await onService(context, async (service) => {
    for await (const line of service.lines(pathOf(id, "/evidence"), "application/x-ndjson")) {
      if (line !== "") context.print(line);
    }
  });
}
