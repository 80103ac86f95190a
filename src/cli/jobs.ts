import type { Command } from "commander";
import { jobStatuses } from "../domain/job/job-view.ts";
import { type FilterOptions, filterFrom } from "./act-on-filter.ts";
import type { CommandContext } from "./command-context.ts";
import { explain } from "./explain.ts";
import { type Action, addActions } from "./job-actions.ts";
import { addHistory } from "./job-history.ts";
import { jobs } from "./job-lines.ts";
import { addListOptions, type ListOptions, list } from "./job-list.ts";
import { addProgress } from "./job-progress.ts";
import { onService } from "./on-service.ts";

type ShowOptions = { readonly json?: boolean; readonly asOf?: string };

const statuses = `only these, separated by commas: ${jobStatuses.join(", ")}`;
const subject = "only jobs with this text in the subject or the name";

const filter: FilterOptions = {
  path: "/api/jobs/bulk",
  one: "job",
  many: "jobs",
  options: [
    ["--status <statuses>", statuses],
    ["--type <type>", "only jobs of this type"],
    ["--mailing <id>", "only jobs of this mailing"],
    ["--q <text>", subject],
    ["--created-after <time>", "only jobs made after it, as 2026-11-21T09:30:00Z"],
    ["--created-before <time>", "only jobs made before it"],
  ],
  read: filterFrom(["status", "type", "mailing", "q", "createdAfter", "createdBefore"], ["status"]),
};

const actions: readonly Action[] = [
  {
    name: "cancel",
    method: "DELETE",
    description: "cancel jobs that have not ended; nothing further is sent",
    isFinal: true,
    filter,
    filterExample: '--status pending,queued --q "Autumn sale" --dry-run',
  },
  { name: "pause", description: "pause jobs until they are resumed", filter, filterExample: "--status queued" },
  { name: "resume", description: "resume paused jobs", filter, filterExample: "--status paused" },
  {
    name: "retry",
    description: "run failed jobs again, without the recipients who were already sent their mail",
    isFinal: true,
    filter,
    filterExample: "--status failed --created-after 2026-11-21T09:30:00Z",
  },
];

/** `jobs list|show|explain|watch|recipients|logs|evidence|cancel|pause|resume|retry`. */
export function addJobsCommands(program: Command, context: CommandContext): void {
  const group = program.command("jobs").description("look at jobs and act on them");
  const listing = group
    .command("list")
    .description("list jobs, newest first")
    .option("--status <statuses>", statuses)
    .option("--type <type>", "only jobs of this type")
    .option("--q <text>", subject);
  addListOptions(listing, jobs).action(({ json, limit, ...filter }: ListOptions) =>
    list(context, jobs, filter, json === undefined ? { limit } : { limit, json }),
  );
  explain(listing, {
    examples: ["waybill jobs list", "waybill jobs list --status failed,cancelled --limit 100 --json"],
    asks: "service",
  });
  const show = group
    .command("show")
    .description("show one job with its progress")
    .argument("<id>", "id of the job, as jobs list shows it")
    .option("--as-of <moment>", "the job as it was at a time, or after the event with a sequence")
    .option("--json", "as JSON")
    .action((id: string, options: ShowOptions) => showJob(context, id, options));
  explain(show, {
    examples: ["waybill jobs show <id>", "waybill jobs show <id> --as-of 2026-11-21T09:30:00Z --json"],
    asks: "service",
  });
  addProgress(group, context, jobs);
  addHistory(group, context, jobs);
  addActions(group, context, jobs, actions);
}

async function showJob(context: CommandContext, id: string, { json, asOf }: ShowOptions): Promise<void> {
  const query = asOf === undefined ? "" : `?${new URLSearchParams({ asOf })}`;
  const { body } = await onService(context, (service) => service.ask(jobs.pathOf(id, query)));
  jobs.print(context, body, json);
}
