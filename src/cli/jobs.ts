import { type Command, Option } from "commander";
import type { Json, Service } from "../client/service.ts";
import { watchJob } from "../client/watch-job.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { onService } from "./on-service.ts";
import { createProgressLine } from "./progress-line.ts";
import { printable, toTable } from "./table.ts";
import { WrongUsage } from "./wrong-usage.ts";

type JsonOption = { readonly json?: boolean };
type ReasonOption = JsonOption & { readonly reason?: string };
type ListOptions = JsonOption & {
  readonly status?: string;
  readonly type?: string;
  readonly q?: string;
  readonly limit: string;
};

const examples = `
Examples:
  waybill jobs list --status failed
  waybill jobs watch 01a1fcc6-9aa9-7457-8c2b-35459085e941
  waybill jobs retry 01a1fcc6-9aa9-7457-8c2b-35459085e941 --reason "the mailbox was full"`;

/** `jobs list|show|watch|logs|cancel|pause|resume|retry`. */
export function addJobsCommands(program: Command, context: CommandContext): void {
  const jobs = program.command("jobs").description("look at jobs and act on them").addHelpText("after", examples);
  const json = () => new Option("--json", "as JSON");
  const ofJob = (name: string, description: string): Command =>
    jobs.command(name).description(description).argument("<id>", "of the job").addOption(json());
  jobs
    .command("list")
    .description("jobs, the newest first")
    .option("--status <statuses>", "only these, with commas between")
    .option("--type <type>", "only of this kind")
    .option("--q <text>", "only with this in the subject or the name")
    .option("--limit <n>", "how many at most", "20")
    .addOption(json())
    .action((options: ListOptions) => listJobs(context, options));
  ofJob("show", "one job with its progress")
    .option("--as-of <moment>", "as it was at a time, or after the event of a sequence")
    .action((id: string, options: JsonOption & { asOf?: string }) => showJob(context, id, options));
  ofJob("watch", "follow a job until it has ended; exit 1 where it did not complete").action(
    (id: string, options: JsonOption) => watch(context, id, options),
  );
  ofJob("logs", "what happened to each recipient, attempt by attempt")
    .option("--status <status>", "success, failed, deferred, unknown or suppressed")
    .option("--email <address>", "only of this recipient")
    .action((id: string, options: JsonOption & LogFilter) => showLogs(context, id, options));
  const reasoned = (name: string, description: string): Command =>
    ofJob(name, description).option("--reason <text>", "kept in the history, with who asked");
  const act = (name: string, method: "POST" | "DELETE", description: string): Command =>
    reasoned(name, description).action((id: string, options: ReasonOption) =>
      actOn(context, id, name, method, options),
    );
  act("cancel", "DELETE", "send nothing more of a job that has not ended");
  act("pause", "POST", "hold a job back");
  act("resume", "POST", "let a paused job go on");
  reasoned("retry", "run a failed job again; who was sent a mail is not mailed again")
    .option("--scope <scope>", "failed, unsent or unknown", "failed")
    .action((id: string, options: ReasonOption & { scope: string }) => actOn(context, id, "retry", "POST", options));
}

const pathOf = (id: string, rest = ""): string => `/api/jobs/${encodeURIComponent(id)}${rest}`;

const mostPerPage = 100;

async function listJobs(context: CommandContext, { json, limit, ...filter }: ListOptions): Promise<void> {
  const wanted = Number(limit);
  if (!Number.isInteger(wanted) || wanted < 1) throw new WrongUsage(`--limit is ${limit}; expected a whole number`);
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
    if (cursor === null || body.data.length === 0) break;
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

function printJob({ print }: CommandContext, job: Json, json: boolean | undefined): void {
  if (json) {
    print(JSON.stringify(job));
    return;
  }
  print(`${job.id}  ${job.status}  attempt ${job.attempt} of ${job.maxAttempts}`);
  print(`  subject    ${job.subject ?? "-"}`);
  print(`  progress   ${toCounts(job.progress)}`);
  for (const at of ["createdAt", "scheduledAt", "startedAt", "nextAttemptAt", "completedAt"]) {
    if (job[at] !== null) print(`  ${at.padEnd(13)} ${job[at]}`);
  }
  if (job.error !== null) print(`  error      ${job.error.code}: ${job.error.message}`);
}

const toCounts = (progress: Readonly<Record<string, number>>): string =>
  Object.entries(progress)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

async function watch(context: CommandContext, id: string, { json }: JsonOption): Promise<void> {
  const progress = createProgressLine(context);
  const last = await onService(context, (service) =>
    watchJob(service, pathOf(id), (job) => {
      if (json) return context.print(JSON.stringify(job));
      const { total, pending, deferred } = job.progress;
      progress.show(total - pending - deferred, total, `recipients done, ${job.status}`);
    }),
  );
  progress.end();
  if (!json) printJob(context, last, false);
  if (last.status !== "completed") throw new CommandFailed(`The job is ${last.status}.`);
}

type LogFilter = { readonly status?: string; readonly email?: string };

async function showLogs(
  context: CommandContext,
  id: string,
  { json, ...filter }: JsonOption & LogFilter,
): Promise<void> {
  await onService(context, async (service) => {
    let path: string | null = pathOf(id, `/logs?${new URLSearchParams({ ...filter, limit: "1000" })}`);
    while (path !== null) {
      const { body, headers } = await service.ask(path);
      for (const entry of body) context.print(json ? JSON.stringify(entry) : toLogLine(entry));
      path = /<([^>]+)>; rel="next"/.exec(headers.get("Link") ?? "")?.[1] ?? null;
    }
  });
}

const toLogLine = ({ createdAt, status, attempt, email, response, error }: Json): string =>
  printable(
    `${createdAt}  ${String(status).padEnd(10)} ${attempt}  ${email ?? "(erased)"}  ${response ?? error?.message ?? error ?? ""}`,
  );

async function actOn(
  context: CommandContext,
  id: string,
  action: string,
  method: "POST" | "DELETE",
  { json, ...body }: ReasonOption,
): Promise<void> {
  const path = method === "DELETE" ? pathOf(id) : pathOf(id, `/${action}`);
  const answered = await onService(context, (service) => service.ask(path, { method, body }));
  printJob(context, answered.body, json);
}
