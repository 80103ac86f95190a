import type { Command } from "commander";
import { createJobView, type EventOfJob, evolveJobView, type JobView, progressOf } from "../domain/job/job-view.ts";
import { readMoment } from "./client/read-moment.ts";
import type { Json } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onService } from "./on-service.ts";

type ReplayOptions = { readonly job: string; readonly asOf?: string; readonly json?: boolean };

/** `replay`. */
export function addReplayCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("replay")
    .description("fold the history of a job on this machine, and print the job after each event")
    .requiredOption("--job <id>", "id of the job")
    .option("--as-of <moment>", "stop after the event with this sequence, or at this time")
    .option("--json", "one line of JSON for each step")
    .action((options: ReplayOptions) => replay(context, options));
  explain(command, {
    examples: ["waybill replay --job <id>", "waybill replay --job <id> --as-of 2026-11-21T09:30:00Z --json"],
    asks: "service",
  });
}

async function replay(context: CommandContext, { job, asOf, json }: ReplayOptions): Promise<void> {
  const isIncluded = readAsOf(asOf);
  const path = `/api/jobs/${encodeURIComponent(job)}/events`;
  const { body: history } = await onService(context, (service) => service.ask(path));
  let view: JobView | null = null;
  for (const event of history) {
    if (!isIncluded(event)) continue;
    view = evolve(view, event);
    const { sequence, time, type, actor } = event;
    const step = {
      sequence,
      time,
      type,
      actor,
      status: view.status,
      attempt: view.attempt,
      progress: progressOf(view),
    };
    context.print(json ? JSON.stringify(step) : toLine(step));
  }
  if (view === null) throw new CommandFailed("The job did not exist yet at that moment.");
}

function evolve(view: JobView | null, { type, time, data }: Json): JobView {
  // The service sends decoded events, so their types are those of this release.
  const event = { type, at: time, data } as EventOfJob;
  if (view !== null) return evolveJobView(view, event);
  if (event.type !== "JobCreated") throw new CommandFailed(`The history begins with ${type}; expected JobCreated.`);
  return createJobView(event);
}

function readAsOf(asOf: string | undefined): (event: Json) => boolean {
  if (asOf === undefined) return () => true;
  if (/^\d+$/.test(asOf)) return ({ sequence }) => sequence <= Number(asOf);
  const time = readMoment(asOf);
  if (time === null) throw new WrongUsage(`--as-of is ${asOf}; expected the sequence of an event, or a time`);
  return (event) => Date.parse(event.time) <= time.getTime();
}

type Step = {
  readonly sequence: number;
  readonly time: string;
  readonly type: string;
  readonly actor: string;
  readonly status: string;
  readonly progress: Readonly<Record<string, number>>;
};

function toLine({ sequence, time, type, actor, status, progress }: Step): string {
  const counts = Object.entries(progress)
    .filter(([name, count]) => name === "total" || count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
  return `${String(sequence).padStart(8)}  ${time}  ${type.padEnd(20)} ${status.padEnd(10)} ${counts}  (${actor})`;
}
