import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import { isWorthWaiting, pauseMsAfter, type Service } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onService } from "./on-service.ts";

type EventsOptions = {
  readonly job?: string;
  readonly after?: string;
  readonly follow?: boolean;
  readonly types?: string;
};

/** `events`. */
export function addEventsCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("events")
    .description("the log of the tenant as lines of JSON, oldest first")
    .option("--job <id>", "the history of one job")
    .option("--after <sequence>", "begin after the event with this sequence")
    .option("--types <types>", "only these event types, separated by commas")
    .option("--follow", "keep running, and print new events")
    .action((options: EventsOptions) => printEvents(context, options));
  explain(command, {
    examples: [
      "waybill events > history.ndjson",
      "waybill events --job <id>",
      "waybill events --follow --types JobCompleted,JobFailed",
    ],
    asks: "service",
  });
}

async function printEvents(context: CommandContext, { job, after, follow, types }: EventsOptions): Promise<void> {
  if (after !== undefined && !/^\d{1,15}$/.test(after)) {
    throw new WrongUsage(`--after is ${JSON.stringify(after)}; expected the sequence of an event`);
  }
  if (job !== undefined) {
    if (follow) throw new WrongUsage("--follow is only for the whole log; use jobs watch for one job");
    return await printHistory(context, job, Number(after ?? 0), types?.split(",") ?? null);
  }
  const query = new URLSearchParams({
    after: after ?? "0",
    ...(types === undefined ? {} : { types }),
    ...(follow ? {} : { wait: "0" }),
  });
  if (!follow) {
    return await onService(context, (service) => printLines(service, query, context.print));
  }
  await onService(context, (service) => followLog(context, service, query)).catch((failure: unknown) => {
    // An interrupt is the normal end of --follow.
    if (!context.interrupted.aborted) throw failure;
  });
}

async function printLines(service: Service, query: URLSearchParams, print: (line: string) => void): Promise<void> {
  for await (const line of service.lines(`/api/events?${query}`, "application/x-ndjson")) {
    if (line !== "") print(line);
  }
}

/**
 * A feed without an end ends where the service stops: the next one begins after the last event that was printed. A service
 * that never answered is not waited for.
 */
async function followLog(context: CommandContext, service: Service, query: URLSearchParams): Promise<never> {
  let last: string | null = null;
  let isAnswered = false;
  let told = "";
  const print = (line: string): void => {
    last = line;
    told = "";
    context.print(line);
  };
  for (;;) {
    let failure: unknown = null;
    try {
      await printLines(service, query, print);
    } catch (thrown) {
      if (!(isAnswered || last !== null) || !isWorthWaiting(thrown)) throw thrown;
      if (thrown.message !== told) context.tell(`${thrown.message} Retrying.`);
      told = thrown.message;
      failure = thrown;
    }
    isAnswered = true;
    if (last !== null) query.set("after", cursorOf(last));
    await pause(pauseMsAfter(failure), undefined, { signal: context.interrupted });
  }
}

function cursorOf(line: string): string {
  const { sequence, index } = JSON.parse(line);
  return `${sequence}.${index}`;
}

async function printHistory(
  context: CommandContext,
  job: string,
  after: number,
  types: readonly string[] | null,
): Promise<void> {
  const path = `/api/jobs/${encodeURIComponent(job)}/events`;
  const { body } = await onService(context, (service) => service.ask(path));
  for (const event of body) {
    if (event.sequence > after && (types === null || types.includes(event.type))) context.print(JSON.stringify(event));
  }
}
