import type { Command } from "commander";
import { type ArchiveReport, archiveLog } from "../archive/archive-log.ts";
import { ArchiveRefused } from "../archive/find-boundary.ts";
import { createJetStreamArchiveIndex } from "../archive/jetstream-archive-index.ts";
import { CutRefused } from "../archive/jetstream-cut.ts";
import { createJetStreamStoredLog } from "../archive/jetstream-stored-log.ts";
import type { HeldBack } from "../archive/open-jobs.ts";
import { createJetStreamEventLog } from "../event-log/jetstream-event-log.ts";
import { jobOfSubject } from "../event-log/subjects.ts";
import { userName } from "../process/user.ts";
import { createJetStreamSealedLog } from "../seals/jetstream-sealed-log.ts";
import { addYes, askFirst, type YesOption } from "./ask-first.ts";
import { whyNoFile } from "./client/file-failure.ts";
import { readMoment } from "./client/read-moment.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onNats } from "./on-servers.ts";
import { createProgressLine } from "./progress-line.ts";

type Options = YesOption & { readonly before: string; readonly to?: string; readonly json?: boolean };

/** `archive`: moves the beginning of the log into files. */
export function addArchiveCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("archive")
    .description(
      "move the part of the log that no open job needs into files, and cut it off; continues what was interrupted",
    )
    .requiredOption("--before <date>", "archive only what was sealed before this day or time, for example 2026-01-01")
    .option("--to <directory>", "the directory for the files (default: ARCHIVE_DIR)")
    .option("--json", "as JSON")
    .action((options: Options) => archive(context, options));
  addYes(command);
  explain(command, {
    examples: ["waybill archive --before 2026-01-01 --to /srv/archive", "waybill archive --before 2026-01-01 --yes"],
    asks: "nats",
    exits: ["done, also where jobs hold back a part of it", "refused; nothing that is in no file was cut off"],
    notes:
      "Keep the files for ever, and give every process the directory as ARCHIVE_DIR: with it the history of an archived job is answered and read models are rebuilt. RETENTION_DAYS has to be that of the service: the content of a job is erased before it is archived.",
  });
}

async function archive(context: CommandContext, options: Options): Promise<void> {
  const before = readMoment(options.before);
  if (before === null) {
    throw new WrongUsage(
      `--before is ${JSON.stringify(options.before)}; expected a day such as 2026-01-01, or a time such as 2026-01-01T00:00:00Z`,
    );
  }
  const { archiveDir, archiveAfterHours, retentionDays } = context.readConfig();
  const directory = options.to ?? archiveDir;
  if (directory === null) throw new WrongUsage("--to is missing; expected a directory, or ARCHIVE_DIR");
  const latest = Date.now() - archiveAfterHours * 3_600_000;
  if (before.getTime() > latest) {
    throw new WrongUsage(
      `--before is ${options.before}; expected ${new Date(latest).toISOString()} at the latest: nothing younger than ARCHIVE_AFTER_HOURS (${archiveAfterHours}) is archived`,
    );
  }
  await askFirst(context, `Move the log before ${before.toISOString()} into ${directory}?`, options);
  const progress = createProgressLine(context);
  const report = await onNats(context, async (connection, { natsPrefix: prefix, streamReplicas: replicas }) => {
    const log = await createJetStreamEventLog(connection, prefix);
    const ports = {
      log,
      sealedLog: await createJetStreamSealedLog(connection, prefix),
      storedLog: await createJetStreamStoredLog(connection, prefix),
      index: createJetStreamArchiveIndex(connection, { prefix, replicas }),
      jobOf: jobOfSubject(prefix),
    };
    return await archiveLog(ports, {
      directory,
      before,
      areErased: retentionDays !== null,
      entriesOfFile: entriesOfOneFile,
      actor: `cli:${userName()}`,
      now: () => new Date().toISOString(),
      onProgress: (sequence, lastSequence) => progress.show(sequence, lastSequence, "entries"),
    });
  })
    .catch((failure: unknown) => {
      const isExplained = failure instanceof ArchiveRefused || failure instanceof CutRefused;
      if (isExplained) throw new CommandFailed(failure.message);
      const isOfFiles = failure instanceof Error && "syscall" in failure && "path" in failure;
      throw isOfFiles ? new CommandFailed(`${directory} cannot be written: ${whyNoFile(failure)}`) : failure;
    })
    .finally(() => progress.end());
  tell(context, report, directory, options);
}

/** About 20 MB. A reader of one job opens one or two files, and checks each once. */
const entriesOfOneFile = 200_000;
const namedAtMost = 20;

function tell(context: CommandContext, report: ArchiveReport, directory: string, { json }: Options): void {
  const { files, cutTo, heldBack, indexFault } = report;
  if (json) {
    context.print(JSON.stringify({ directory, ...report }));
    return;
  }
  if (indexFault !== null) context.print(`${indexFault} It was made again from the files.`);
  for (const { file, from, to, count, bytes } of files) {
    context.print(`${file}: ${count} entries from ${from} to ${to}, ${bytes} bytes`);
  }
  if (files.length === 0) context.print("Nothing was archived.");
  if (cutTo > 0) context.print(`The log begins after ${cutTo}.`);
  for (const held of heldBack.slice(0, namedAtMost)) context.print(`Held back at ${held.sequence}: ${inWords(held)}`);
  if (heldBack.length > namedAtMost) context.print(`… and by ${heldBack.length - namedAtMost} more.`);
}

const dayMs = 86_400_000;

function inWords({ job, why, since }: HeldBack): string {
  const days = since === null ? null : Math.floor((Date.now() - Date.parse(since)) / dayMs);
  const age = since === null ? "" : `, since ${since} (${days} ${days === 1 ? "day" : "days"})`;
  return job === null ? `${why}${age}` : `job ${job.jobId} of ${job.tenant}: ${why}${age}`;
}
