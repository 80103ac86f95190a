import { describeFaults, type RecipientFile, type Survey, UnusableFile } from "./client/read-recipients.ts";
import { addRecipients, type Imported, MailingChanged } from "./client/send-mailing.ts";
import type { Service } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { mailings } from "./job-lines.ts";
import { createProgressLine, toNumber } from "./progress-line.ts";

type Uploading = { readonly file: RecipientFile; readonly survey: Survey };

/**
 * Adds the rows of a file to a mailing, and shows how far it has come. Null where the mailing was started before. Throws
 * CommandFailed, also for rows that the service leaves out.
 */
export async function uploadRecipients(
  context: CommandContext,
  service: Service,
  id: string,
  uploading: Uploading,
): Promise<Imported | null> {
  const { rows: total } = uploading.survey;
  const bar = createProgressLine(context);
  let done = 0;
  const onRows = (rows: number): void => {
    done = rows;
    bar.show(rows, total, "recipients uploaded");
  };
  const onWaiting = (reason: string): void => bar.interrupt(`${reason} Retrying.`);
  const imported = await addRecipients(service, mailings.pathOf(id), uploading, onRows, onWaiting)
    .catch((failure: unknown) => {
      if (!context.interrupted.aborted) throw failure;
      const left = `${toNumber(done)} of ${toNumber(total)} recipients uploaded`;
      throw new CommandFailed(`Interrupted: ${left}. Run the same command again to continue.`);
    })
    .finally(bar.end);
  if (imported === null || imported.faulty === 0) return imported;
  const { faulty, faults } = imported;
  const head = `${uploading.file.path} has ${faulty} ${faulty === 1 ? "row" : "rows"} that cannot be mailed; nothing was sent:`;
  const next = `Correct the file and run the command again. To leave these rows out: waybill mailings start ${id}`;
  throw new CommandFailed(`${describeFaults(head, faulty, faults)}\n${next}`);
}

/** Failures whose message is all that a user has to know. */
export const explained = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((failure: unknown) => {
    const isExplained = failure instanceof UnusableFile || failure instanceof MailingChanged;
    throw isExplained ? new CommandFailed(failure.message) : failure;
  });
