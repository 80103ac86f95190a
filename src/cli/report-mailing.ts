import { untilMailingEnded } from "./client/follow-jobs.ts";
import { type Created, type Started, whyTakenBack } from "./client/send-mailing.ts";
import type { Json, Service } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { mailings, remedyFor } from "./job-lines.ts";
import { counted, createProgressLine, toNumber } from "./progress-line.ts";

/** Says what became of a mailing that was sent, or is a draft; with `--wait` also how it ended. */
export async function reportMailing(
  context: CommandContext,
  service: Service,
  { id, isRepeat }: Pick<Created, "id" | "isRepeat">,
  { mailing, sequence }: Started,
  { rows, wait, json }: { readonly rows: number; readonly wait: boolean; readonly json: boolean },
): Promise<void> {
  const { total: recipients } = mailing.progress;
  const duplicates = Math.max(0, rows - recipients);
  const summary = { mailing: id, recipients, duplicates, isRepeat, status: mailing.status, approval: mailing.approval };
  if (!json) {
    const before = isRepeat ? ", started earlier" : "";
    const words = duplicates === 1 ? "repeats an address and is" : "repeat an address and are";
    const repeated = duplicates === 0 ? "" : `; ${counted(duplicates, "row")} ${words} left out`;
    context.print(`Mailing ${id}: ${counted(recipients, "recipient")}, ${mailing.status}${before}${repeated}.`);
    for (const line of nextSteps(mailing, wait)) context.tell(line);
  }
  if (!wait) return json ? context.print(JSON.stringify(summary)) : undefined;
  const ended = await untilEnded(context, service, id, sequence);
  const { status, progress } = ended;
  if (json) context.print(JSON.stringify({ ...summary, status, progress, approval: ended.approval }));
  else context.print(toSentence(progress));
  if (status === "completed") return;
  if (status !== "draft") throw new CommandFailed(`The mailing is ${status}.${remedyFor(mailings, ended)}`);
  throw new CommandFailed(
    (await whyTakenBack(service, mailings.pathOf(id), () => {})) ?? "The mailing is a draft again.",
  );
}

/** What a person can do next. */
function nextSteps({ id, status, approval, undoUntil }: Json, wait: boolean): readonly string[] {
  if (status === "draft") return [`Start it: run the command without --draft, or waybill mailings start ${id}`];
  if (status === "awaiting-approval") {
    return [
      "It starts once another key, with the scope jobs:approve, approves it:",
      `  waybill mailings approve ${id} --digest ${approval.digest}`,
    ];
  }
  const undo =
    undoUntil === null ? [] : [`Until ${undoUntil} its start can be taken back: waybill mailings undo ${id}`];
  return wait ? undo : [...undo, `Follow it: waybill mailings watch ${id}`];
}

async function untilEnded(context: CommandContext, service: Service, id: string, sequence: string): Promise<Json> {
  const bar = createProgressLine(context);
  return await untilMailingEnded(
    service,
    mailings.pathOf(id),
    sequence,
    context.interrupted,
    ({ status, progress }) => {
      const { total, pending, deferred } = progress;
      bar.show(total - pending - deferred, total, `recipients done, ${status}`);
    },
  ).finally(bar.end);
}

const toSentence = (progress: Readonly<Record<string, number>>): string =>
  Object.entries(progress)
    .filter(([name, count]) => name === "sent" || (count > 0 && name !== "total"))
    .map(([name, count]) => `${toNumber(count)} ${name}`)
    .join(", ");
