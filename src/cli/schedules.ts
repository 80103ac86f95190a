import type { Command } from "commander";
import { printable } from "../process/terminal-line.ts";
import type { Json } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onService } from "./on-service.ts";
import { readText } from "./read-letter.ts";
import { printTable } from "./table.ts";

type JsonOption = { readonly json?: boolean };
type ReasonOption = JsonOption & { readonly reason?: string };
type CreateOptions = JsonOption & { readonly id?: string };

const example = "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f";

/** `schedules list|show|create|pause|resume|delete|firings`. */
export function addScheduleCommands(program: Command, context: CommandContext): void {
  const schedules = program.command("schedules").description("jobs and mailings that are made again and again");
  const list = schedules
    .command("list")
    .description("list the schedules, the newest first")
    .option("--json", "as JSON")
    .action((options: JsonOption) => listSchedules(context, options));
  explain(list, { examples: ["waybill schedules list"], asks: "service" });
  const ofSchedule = (name: string, description: string): Command =>
    schedules
      .command(name)
      .description(description)
      .argument("<schedule>", "id of the schedule")
      .option("--json", "as JSON");
  const show = ofSchedule("show", "show a schedule and its next times").action((id: string, options: JsonOption) =>
    showSchedule(context, id, options),
  );
  explain(show, { examples: [`waybill schedules show ${example}`], asks: "service" });
  const create = schedules
    .command("create")
    .description("create a schedule from a file with the body of POST /api/schedules")
    .argument("<file>", "the file, as JSON")
    .option("--id <key>", "an Idempotency-Key: the command can then be repeated")
    .option("--json", "as JSON")
    .action((file: string, options: CreateOptions) => createSchedule(context, file, options));
  explain(create, { examples: ["waybill schedules create weekly.json --id weekly"], asks: "service" });
  const deciding = (name: "pause" | "resume" | "delete", description: string): void => {
    const command = ofSchedule(name, description)
      .option("--reason <text>", "why; it stands in the log")
      .action((id: string, options: ReasonOption) => decide(context, name, id, options));
    explain(command, { examples: [`waybill schedules ${name} ${example}`], asks: "service" });
  };
  deciding("pause", "pause a schedule; the times that pass meanwhile never count");
  deciding("resume", "resume a paused schedule, from its next time on");
  deciding("delete", "delete a schedule and erase its template; what it has made stays");
  const firings = ofSchedule("firings", "list what became of the times of a schedule, the newest first")
    .option("--limit <n>", "so many, up to 100", "20")
    .action((id: string, options: JsonOption & { readonly limit: string }) => listFirings(context, id, options));
  explain(firings, { examples: [`waybill schedules firings ${example}`], asks: "service" });
}

const pathOf = (id: string, rest = ""): string => `/api/schedules/${encodeURIComponent(id)}${rest}`;

async function listSchedules(context: CommandContext, { json }: JsonOption): Promise<void> {
  const found = await onService(context, async (service) => {
    const all: Json[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await service.ask(`/api/schedules?limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`);
      all.push(...body.data);
      cursor = body.nextCursor;
    }
    return all;
  });
  if (json) return context.print(JSON.stringify(found));
  if (found.length === 0) return context.tell("There are no schedules.");
  const rows = found.map((one) => ({ ...one, next: one.nextTimes[0] ?? null }));
  printTable(context, ["id", "name", "status", "cron", "timeZone", "next"], rows);
}

async function showSchedule(context: CommandContext, id: string, { json }: JsonOption): Promise<void> {
  const { body } = await onService(context, (service) => service.ask(pathOf(id)));
  if (json) return context.print(JSON.stringify(body));
  printSchedule(context, body);
}

function printSchedule(context: CommandContext, schedule: Json): void {
  const { id, name, status, cron, timeZone, makes, overlap, catchUp, nextTimes } = schedule;
  const facts = { name: name ?? "-", status, cron, timeZone, makes, overlap, catchUp };
  context.print(id);
  for (const [fact, value] of Object.entries(facts)) context.print(`  ${fact.padEnd(9)} ${printable(String(value))}`);
  for (const time of nextTimes) context.print(`  next      ${time}`);
}

async function createSchedule(context: CommandContext, file: string, { id, json }: CreateOptions): Promise<void> {
  const body = await readJson(file);
  const headers: Record<string, string> = id === undefined ? {} : { "Idempotency-Key": id };
  const created = await onService(context, (service) =>
    service.ask("/api/schedules", { method: "POST", body, headers }),
  );
  if (json) return context.print(JSON.stringify(created.body));
  printSchedule(context, created.body);
}

async function readJson(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return JSON.parse(text);
  } catch {
    throw new WrongUsage(`${path} is not JSON; expected the body of POST /api/schedules`);
  }
}

async function decide(
  context: CommandContext,
  what: "pause" | "resume" | "delete",
  id: string,
  { reason, json }: ReasonOption,
): Promise<void> {
  const body = reason === undefined ? {} : { reason };
  const { body: schedule } = await onService(context, (service) =>
    what === "delete"
      ? service.ask(pathOf(id), { method: "DELETE", body })
      : service.ask(pathOf(id, `/${what}`), { method: "POST", body }),
  );
  context.print(json ? JSON.stringify(schedule) : `${schedule.id} is ${schedule.status}`);
}

async function listFirings(
  context: CommandContext,
  id: string,
  { json, limit }: JsonOption & { readonly limit: string },
): Promise<void> {
  const { body } = await onService(context, (service) =>
    service.ask(pathOf(id, `/firings?limit=${encodeURIComponent(limit)}`)),
  );
  if (json) return context.print(JSON.stringify(body));
  if (body.data.length === 0) return context.tell("None of its times has come.");
  const rows = body.data.map((one: Json) => ({ ...one, made: one.jobId ?? one.mailingId }));
  printTable(context, ["dueAt", "outcome", "count", "made", "reason"], rows);
}
