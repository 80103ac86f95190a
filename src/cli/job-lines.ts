import { printable } from "../process/terminal-line.ts";
import type { Json } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { paintStatus } from "./table.ts";

/** What jobs and mailings have in common for the commands about them. */
export type Kind = {
  readonly one: "job" | "mailing";
  /** The name of the commands, and of the collection in the API. */
  readonly many: "jobs" | "mailings";
  /** The path in the API. The id is encoded, so that a malformed one cannot address another route. */
  readonly pathOf: (id: string, rest?: string) => string;
  /** Prints one as people read it, or as a line of JSON. */
  readonly print: (context: CommandContext, one: Json, json: boolean | undefined) => void;
};

export const jobs: Kind = {
  one: "job",
  many: "jobs",
  pathOf: (id, rest = "") => `/api/jobs/${encodeURIComponent(id)}${rest}`,
  print: (context, job, json) => {
    if (json) return context.print(JSON.stringify(job));
    // An ended job has no further attempts, and those for deferred recipients alone are not limited: then no limit is shown.
    const limit = job.completedAt === null && job.attempt <= job.maxAttempts ? ` of ${job.maxAttempts}` : "";
    context.print(`${job.id}  ${paintStatus(context.paint, "status", job.status)}  attempt ${job.attempt}${limit}`);
    printCommon(context, job, ["createdAt", "scheduledAt", "startedAt", "nextAttemptAt", "completedAt"]);
    if (job.error !== null) context.print(`  error         ${printable(`${job.error.code}: ${job.error.message}`)}`);
  },
};

export const mailings: Kind = {
  one: "mailing",
  many: "mailings",
  pathOf: (id, rest = "") => `/api/mailings/${encodeURIComponent(id)}${rest}`,
  print: (context, mailing, json) => {
    if (json) return context.print(JSON.stringify(mailing));
    const { id, status, partsMade, parts, approval } = mailing;
    context.print(`${id}  ${paintStatus(context.paint, "status", status)}  ${partsMade} of ${parts} parts made`);
    printCommon(context, mailing, ["createdAt", "scheduledAt", "startedAt", "undoUntil", "completedAt"]);
    if (approval === null) return;
    context.print(`  approval      ${printable(`${approval.status}${approval.reason ? `: ${approval.reason}` : ""}`)}`);
    context.print(`  digest        ${approval.digest}`);
  },
};

function printCommon({ print }: CommandContext, one: Json, times: readonly string[]): void {
  print(`  subject       ${printable(one.subject ?? "-")}`);
  print(`  progress      ${toCounts(one.progress)}`);
  for (const at of times) {
    if (one[at] !== null) print(`  ${at.padEnd(13)} ${one[at]}`);
  }
}

/** The commands for what has ended otherwise than completed; none for what was cancelled, as that was done on purpose. */
export const remedyFor = ({ many }: Kind, { id, status }: Json): string =>
  status === "cancelled"
    ? ""
    : `\nNot reached: waybill ${many} recipients ${id} --status failed\nRetry those: waybill ${many} retry ${id}`;

const toCounts = (progress: Readonly<Record<string, number>>): string =>
  Object.entries(progress)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
