import type { Json } from "../client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { printable } from "./table.ts";

/** Of a job in the API; an id that is none must not lead elsewhere. */
export const pathOf = (id: string, rest = ""): string => `/api/jobs/${encodeURIComponent(id)}${rest}`;

/** A job as people read it, or as a line of JSON. */
export function printJob({ print }: CommandContext, job: Json, json: boolean | undefined): void {
  if (json) {
    print(JSON.stringify(job));
    return;
  }
  // Of a job that has ended, nobody waits for further attempts.
  print(`${job.id}  ${job.status}  attempt ${job.attempt}${job.completedAt === null ? ` of ${job.maxAttempts}` : ""}`);
  print(`  subject       ${printable(job.subject ?? "-")}`);
  print(`  progress      ${toCounts(job.progress)}`);
  for (const at of ["createdAt", "scheduledAt", "startedAt", "nextAttemptAt", "completedAt"]) {
    if (job[at] !== null) print(`  ${at.padEnd(13)} ${job[at]}`);
  }
  if (job.error !== null) print(`  error         ${printable(`${job.error.code}: ${job.error.message}`)}`);
}

/** What to type for jobs that failed. */
export const remedyFor = (ids: readonly string[]): string =>
  ids.length === 0
    ? ""
    : `\nWho was not reached: waybill jobs recipients ${ids.length === 1 ? ids[0] : "<id>"} --status failed\nThose alone again:   waybill jobs retry ${ids.join(" ")}`;

const toCounts = (progress: Readonly<Record<string, number>>): string =>
  Object.entries(progress)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
