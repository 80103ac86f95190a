import type { Command } from "commander";
import { normalisedSender } from "../access/caller-limits.ts";
import { expectedTenantName, isTenantName, type TenantRules } from "../domain/tenant.ts";
import type { CommandContext } from "./command-context.ts";
import { WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onAccessStore } from "./on-servers.ts";
import { printTable } from "./table.ts";

type SetOptions = {
  readonly dailyRecipients?: string;
  readonly senders?: string;
  readonly approvalAbove?: string;
  readonly json?: boolean;
};
type JsonOption = { readonly json?: boolean };
type Row = { readonly tenant: string } & TenantRules;

/** `tenants list|set`. */
export function addTenantCommands(program: Command, context: CommandContext): void {
  const tenants = program.command("tenants").description("list and set the rules of tenants");
  const list = tenants
    .command("list")
    .description("list all tenants that have keys or rules")
    .option("--json", "as JSON")
    .action((options: JsonOption) => listTenants(context, options));
  const set = tenants
    .command("set")
    .description("set rules for a tenant; they apply within a second")
    .argument("<tenant>", "name of the tenant")
    .option(
      "--daily-recipients <number>",
      "the largest number of recipients in all jobs accepted in one day (UTC), or none for no limit",
    )
    .option(
      "--senders <senders>",
      "addresses and domains that `from` may have, separated by commas, or none to allow only MAIL_FROM",
    )
    .option(
      "--approval-above <number>",
      "a mailing with more recipients needs the approval of another key: 0 for every mailing, or none for no limit",
    )
    .option("--json", "as JSON")
    .action((tenant: string, options: SetOptions) => setRules(context, tenant, options));
  explain(list, { examples: ["waybill tenants list", "waybill tenants list --json"], asks: "nats" });
  explain(set, {
    examples: [
      "waybill tenants set acme --daily-recipients 50000 --senders acme.example,news@acme.example",
      "waybill tenants set acme --daily-recipients none",
      "waybill tenants set acme --approval-above 1000",
    ],
    asks: "nats",
  });
}

async function setRules(context: CommandContext, tenant: string, options: SetOptions): Promise<void> {
  if (!isTenantName(tenant))
    throw new WrongUsage(`The tenant is ${JSON.stringify(tenant)}; expected ${expectedTenantName}`);
  const { dailyRecipients, senders, approvalAbove } = options;
  if (dailyRecipients === undefined && senders === undefined && approvalAbove === undefined) {
    throw new WrongUsage("Nothing to set; expected --daily-recipients, --senders or --approval-above");
  }
  const changes: Partial<TenantRules> = {
    ...(dailyRecipients === undefined ? {} : { dailyRecipients: readNumber("--daily-recipients", dailyRecipients) }),
    ...(senders === undefined ? {} : { senders: readSenders(senders) }),
    ...(approvalAbove === undefined ? {} : { approvalAbove: readNumber("--approval-above", approvalAbove) }),
  };
  const rules = await onAccessStore(context, (store) => store.setRules(tenant, changes));
  const row: Row = { tenant, ...rules };
  if (options.json) context.print(JSON.stringify(row));
  else print(context, [row]);
}

async function listTenants(context: CommandContext, { json }: JsonOption): Promise<void> {
  const rules = await onAccessStore(context, (store) => store.listTenants());
  const rows: readonly Row[] = [...rules].map(([tenant, one]) => ({ tenant, ...one }));
  if (json) context.print(JSON.stringify(rows));
  else print(context, rows);
}

const print = (context: CommandContext, rows: readonly Row[]): void => {
  printTable(context, ["tenant", "dailyRecipients", "senders", "approvalAbove"], rows);
};

function readNumber(option: string, text: string): number | null {
  if (text === "none") return null;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new WrongUsage(`${option} is ${JSON.stringify(text)}; expected a whole number, or none`);
}

function readSenders(text: string): readonly string[] | null {
  if (text === "none") return null;
  const senders = text.split(",").map((sender) => normalisedSender(sender.trim().replace(/^@/, "")));
  if (!senders.includes("")) return senders;
  throw new WrongUsage(`--senders is ${JSON.stringify(text)}; expected addresses and domains with commas, or none`);
}
