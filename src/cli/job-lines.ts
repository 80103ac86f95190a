import type { Json } from "../client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { printable } from "./table.ts";

/** The path of a job in the API. The id is encoded, so that a malformed one cannot address another route. */
export const pathOf = (id: string, rest = ""): string => `/api/jobs/${encodeURIComponent(id)}${rest}`;

/** A job as people read it, or as a line of JSON. */
export function printJob({ print }: CommandContext, job: Json, json: boolean | undefined): void {
  if (json) {
    print(JSON.stringify(job));
    return;
  }
  // An ended job has no further attempts, and those for deferred recipients alone are not limited: then no limit is shown.
  const limit = job.completedAt === null && job.attempt <= job.maxAttempts ? ` of ${job.maxAttempts}` : "";
  print(`${job.id}  ${job.status}  attempt ${job.attempt}${limit}`);
  print(`  subject       ${printable(job.subject ?? "-")}`);
  print(`  progress      ${toCounts(job.progress)}`);
  for (const at of ["createdAt", "scheduledAt", "startedAt", "nextAttemptAt", "completedAt"]) {
    if (job[at] !== null) print(`  ${at.padEnd(13)} ${job[at]}`);
  }
  if (job.error !== null) print(`  error         ${printable(`${job.error.code}: ${job.error.message}`)}`);
}

/** The commands for jobs that failed. */
export const remedyFor = (ids: readonly string[]): string =>
  ids.length === 0
    ? ""
    : `\nNot reached: waybill jobs recipients ${ids.length === 1 ? ids[0] : "<id>"} --status failed\nRetry those: waybill jobs retry ${ids.join(" ")}`;

const toCounts = (progress: Readonly<Record<string, number>>): string =>
  Object.entries(progress)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
