import { type Command, Option } from "commander";
import { type MailGrouping, mailGroupings } from "../domain/recipients/mail-counts.ts";
import type { Json } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { explain } from "./explain.ts";
import { onService } from "./on-service.ts";
import { printTable } from "./table.ts";

type Options = {
  readonly all?: boolean;
  readonly by?: MailGrouping;
  readonly json?: boolean;
};

/** `stats`. */
export function addStatsCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("stats")
    .description("counts, rates and waiting jobs as they are now")
    .option("--all", "of all tenants together; needs the scope admin")
    .addOption(
      new Option("--by <what>", "what became of the mails of the last 24 hours, by sender, route or receiver")
        .choices(mailGroupings)
        .conflicts("all"),
    )
    .option("--json", "as JSON")
    .action((options: Options) => showStats(context, options));
  explain(command, {
    examples: ["waybill stats", "waybill stats --by receiver", "waybill stats --all --json"],
    asks: "service",
  });
}

async function showStats(context: CommandContext, { all, by, json }: Options): Promise<void> {
  if (by !== undefined) return await showMailRates(context, by, json === true);
  const { body } = await onService(context, (service) => service.ask(all ? "/api/admin/jobs/stats" : "/api/stats"));
  if (json) return context.print(JSON.stringify(body));
  const { jobs, waiting, perMinute, projections } = body;
  printTable(
    context,
    ["status", "jobs"],
    rowsOf(jobs, (count) => ({ jobs: count }), "status"),
  );
  context.print("");
  const toWaiting = ({ jobs: count, oldestAgeSeconds }: Json) => ({
    waiting: count,
    oldest: inSeconds(oldestAgeSeconds),
  });
  printTable(context, ["priority", "waiting", "oldest"], rowsOf(waiting, toWaiting, "priority"));
  context.print("");
  const { last5Minutes, last60Minutes } = perMinute;
  const toRates = (rate: number, name: string) => ({ "5 min": rate, "60 min": last60Minutes[name] });
  printTable(context, ["per minute", "5 min", "60 min"], rowsOf(last5Minutes, toRates, "per minute"));
  context.print("");
  for (const [what, share] of [
    ["of the jobs failed", body.failureRate?.jobs ?? null],
    ["of the mails failed", body.failureRate?.mails ?? null],
    ["of the mails bounced", body.bounceRate],
    ["of the mails led to a complaint", body.complaintRate],
  ] as const) {
    if (share !== null) context.print(`${(share * 100).toFixed(2)} % ${what} in the last hour`);
  }
  for (const [name, { lagEvents }] of Object.entries<Json>(projections)) {
    if (lagEvents > 0) context.print(`The read model ${name} is ${lagEvents} events behind the log`);
  }
}

async function showMailRates(context: CommandContext, by: MailGrouping, isJson: boolean): Promise<void> {
  const { body } = await onService(context, (service) => service.ask(`/api/stats/mail-rates?by=${by}&limit=100`));
  if (isJson) return context.print(JSON.stringify(body));
  const { rates } = body as { readonly rates: readonly Json[] };
  if (rates.length === 0) return context.print("No mail server has answered in the last 24 hours.");
  const rows = rates.map(({ name, failureRate, bounceRate, complaintRate, ...counts }) => ({
    [by]: name,
    ...counts,
    "failed %": inPercent(failureRate),
    "bounced %": inPercent(bounceRate),
    "complained %": inPercent(complaintRate),
  }));
  printTable(context, Object.keys(rows[0] ?? {}), rows);
}

const inPercent = (share: number | null): string => (share === null ? "-" : (share * 100).toFixed(2));

/** A row for each field of an object, with the name of the field in the column `named`. */
const rowsOf = <Row extends Readonly<Record<string, string | number | null>>>(
  fields: Readonly<Record<string, Json>>,
  toRow: (value: Json, name: string) => Row,
  named: string,
): readonly Json[] => Object.entries(fields).map(([name, value]) => ({ [named]: name, ...toRow(value, name) }));

const inSeconds = (seconds: number | null): string | null => (seconds === null ? null : `${Math.round(seconds)} s`);
