import type { Command } from "commander";
import { watchJob } from "../client/follow-jobs.ts";
import type { Json, Service } from "../client/service.ts";
import { jobStatuses } from "../domain/job/job-view.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { addActions } from "./job-actions.ts";
import { pathOf, printJob, remedyFor } from "./job-lines.ts";
import { addRecipients } from "./job-recipients.ts";
import { onService } from "./on-service.ts";
import { createProgressLine } from "./progress-line.ts";
import { printable, toTable } from "./table.ts";

type JsonOption = { readonly json?: boolean };

type ListOptions = JsonOption & {
  readonly status?: string;
  readonly type?: string;
  readonly q?: string;
  readonly limit: string;
};

/** `jobs list|show|explain|watch|recipients|logs|evidence|cancel|pause|resume|retry`. */
export function addJobsCommands(program: Command, context: CommandContext): void {
  const jobs = program.command("jobs").description("look at jobs and act on them");
  const list = jobs
    .command("list")
    .description("list jobs, newest first")
    .option("--status <statuses>", `only these, separated by commas: ${jobStatuses.join(", ")}`)
    .option("--type <type>", "only jobs of this type")
    .option("--q <text>", "only jobs with this text in the subject or the name")
    .option("--limit <n>", "the largest number of jobs to show", "20")
    .option("--json", "as JSON")
    .action((options: ListOptions) => listJobs(context, options));
  explain(list, {
    examples: ["waybill jobs list", "waybill jobs list --status failed,cancelled --limit 100 --json"],
    asks: "service",
  });
  const ofJob = (name: string, description: string): Command =>
    jobs.command(name).description(description).argument("<id>", "id of the job, as jobs list shows it");
  const show = ofJob("show", "show one job with its progress")
    .option("--as-of <moment>", "the job as it was at a time, or after the event with a sequence")
    .option("--json", "as JSON")
    .action((id: string, options: JsonOption & { asOf?: string }) => showJob(context, id, options));
  explain(show, {
    examples: ["waybill jobs show <id>", "waybill jobs show <id> --as-of 2026-11-21T09:30:00Z --json"],
    asks: "service",
  });
  const explaining = ofJob("explain", "say why a job is where it is, and what it waits for")
    .option("--json", "as JSON")
    .action((id: string, options: JsonOption) => explainJob(context, id, options));
  explain(explaining, { examples: ["waybill jobs explain <id>", "waybill jobs explain <id> --json"], asks: "service" });
  const watching = ofJob("watch", "follow a job until it has ended")
    .option("--json", "one line of JSON for each change")
    .action((id: string, options: JsonOption) => watch(context, id, options));
  explain(watching, {
    examples: ["waybill jobs watch <id>", "waybill jobs watch <id> --json"],
    asks: "service",
    exits: ["the job completed", "it failed, was cancelled, or could not be watched"],
  });
  addRecipients(jobs, context);
  const logs = ofJob("logs", "every attempt for each recipient, including runs before a retry")
    .option("--status <status>", "success, failed, deferred, unknown or suppressed")
    .option("--email <address>", "only this recipient")
    .option("--json", "one line of JSON for each entry")
    .action((id: string, options: JsonOption & LogFilter) => showLogs(context, id, options));
  explain(logs, {
    examples: ["waybill jobs logs <id>", "waybill jobs logs <id> --status failed --json"],
    asks: "service",
    notes:
      "The columns: time, status, run and attempt, address, answer. For current statuses: waybill jobs recipients.",
  });
  const evidence = ofJob(
    "evidence",
    "write the job's history to standard output, as a file that proves it without a server",
  ).action((id: string) => printEvidence(context, id));
  explain(evidence, {
    examples: ["waybill jobs evidence <id> > job.ndjson", "waybill verify job.ndjson --key public-key.pem"],
    asks: "service",
    notes: `The file is lines of JSON and contains addresses. An auditor needs the public key of the service: GET /api/seals/key,
or waybill seals key on its machine.`,
  });
  addActions(jobs, context);
}

const mostPerPage = 100;

async function listJobs(context: CommandContext, { json, limit, ...filter }: ListOptions): Promise<void> {
  const wanted = Number(limit);
  if (!/^\d{1,15}$/.test(limit) || wanted < 1) throw new WrongUsage(`--limit is ${limit}; expected 1 or more`);
  const jobs = await onService(context, (service) => readJobs(service, filter, wanted));
  if (json) return context.print(JSON.stringify(jobs));
  if (jobs.length === 0) return context.tell("There are no such jobs.");
  const columns = ["id", "status", "sent", "failed", "total", "createdAt", "subject"] as const;
  const rows = jobs.map(({ progress: { sent, failed, total }, ...job }) => ({ ...job, sent, failed, total }));
  for (const line of toTable(columns, rows)) context.print(line);
}

async function readJobs(service: Service, filter: object, wanted: number): Promise<readonly Json[]> {
  const jobs: Json[] = [];
  let cursor: string | null = null;
  while (jobs.length < wanted) {
    const query = new URLSearchParams({ ...filter, pageSize: String(Math.min(mostPerPage, wanted - jobs.length)) });
    if (cursor !== null) query.set("cursor", cursor);
    const { body } = await service.ask(`/api/jobs?${query}`);
    jobs.push(...body.data);
    cursor = body.pagination.nextCursor;
    // A page of a search may be empty, and the next one not.
    if (cursor === null) break;
  }
  return jobs;
}

async function showJob(
  context: CommandContext,
  id: string,
  { json, asOf }: JsonOption & { asOf?: string },
): Promise<void> {
  const query = asOf === undefined ? "" : `?${new URLSearchParams({ asOf })}`;
  const { body } = await onService(context, (service) => service.ask(pathOf(id, query)));
  printJob(context, body, json);
}

async function explainJob(context: CommandContext, id: string, { json }: JsonOption): Promise<void> {
  const { body } = await onService(context, (service) => service.ask(pathOf(id, "/explain")));
  if (json) return context.print(JSON.stringify(body));
  for (const { code, message, since, until, changedBy } of body.reasons) {
    context.print(printable(`${code}: ${message}`));
    const more = { since, until, "changed by": changedBy };
    for (const [name, value] of Object.entries(more)) {
      if (value !== null) context.print(`  ${name.padEnd(13)} ${printable(value)}`);
    }
  }
  if (body.notKnown.length > 0) context.tell(`Not known now: ${body.notKnown.join(", ")}`);
}

async function watch(context: CommandContext, id: string, { json }: JsonOption): Promise<void> {
  const progress = createProgressLine(context);
  const onChange = (job: Json): void => {
    const { total, pending, deferred } = job.progress;
    if (json) context.print(JSON.stringify(job));
    else progress.show(total - pending - deferred, total, `recipients done, ${job.status}`);
  };
  const onWaiting = (reason: string): void => progress.interrupt(`${reason} Retrying.`);
  const last = await onService(context, (service) => watchJob(service, pathOf(id), onChange, onWaiting)).finally(
    progress.end,
  );
  if (!json) printJob(context, last, false);
  if (last.status === "completed") return;
  throw new CommandFailed(`The job is ${last.status}.${last.status === "failed" ? remedyFor([id]) : ""}`);
}

type LogFilter = { readonly status?: string; readonly email?: string };

async function showLogs(
  context: CommandContext,
  id: string,
  { json, ...filter }: JsonOption & LogFilter,
): Promise<void> {
  let count = 0;
  await onService(context, async (service) => {
    let path: string | null = pathOf(id, `/logs?${new URLSearchParams({ ...filter, limit: "1000" })}`);
    while (path !== null) {
      const { body, headers } = await service.ask(path);
      for (const entry of body) context.print(json ? JSON.stringify(entry) : toLogLine(entry));
      count += body.length;
      path = /<([^>]+)>; rel="next"/.exec(headers.get("Link") ?? "")?.[1] ?? null;
    }
  });
  if (count === 0) context.tell("There are no such entries.");
}

const toLogLine = ({ createdAt, status, run, attempt, email, response, error }: Json): string =>
  printable(
    `${createdAt}  ${String(status).padEnd(10)} ${run}.${attempt}  ${email ?? "(erased)"}  ${response ?? error?.message ?? ""}`,
  );

async function printEvidence(context: CommandContext, id: string): Promise<void> {
  await onService(context, async (service) => {
    for await (const line of service.lines(pathOf(id, "/evidence"), "application/x-ndjson")) {
      if (line !== "") context.print(line);
    }
  });
}
