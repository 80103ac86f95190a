import { handleMailingCommand } from "../../commands/handle-command.ts";
import { readMailing } from "../../commands/read-version.ts";
import { decodeContent } from "../../content/encode-content.ts";
import type { ExistingMailing, MailingState } from "../../domain/mailing/state.ts";
import { Unavailable } from "../../domain/unavailable.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { draftJob, refuseDraft } from "../../intake/draft-job.ts";
import { checkWithTemplate, templateOfMailing } from "../../intake/use-template.ts";
import { faultAt } from "../../schemas/fault.ts";
import { type LineFile, ndjsonType } from "../../schemas/line-file.ts";
import { createMailing, toMailingDraft } from "../create-mailing.ts";
import { approvalTerms, decideMailing } from "../decide-mailing.ts";
import { checkMailingRequest } from "../mailing-request.ts";
import {
  type Firing,
  type Made,
  type MakingPorts,
  noRoom,
  refused,
  refusedFor,
  rulesOf,
  scheduleChanged,
} from "./making.ts";
import { mailingTemplateOf, type ScheduleTemplate } from "./schedule-content.ts";

/** A person has decided about it since, or its start was recorded before a crash. */
export const wasStarted = (state: MailingState): boolean =>
  state.status !== "absent" && (state.status !== "draft" || state.wasUndone || state.approval !== null);

const unfit = faultAt("/recipientsOf", "has recipients for whom the letter cannot be filled in");

/** A draft with the recipients that the other mailing has now, which is then started. Each step is there once. */
export async function makeMailing(
  ports: MakingPorts,
  firing: Firing,
  first: JobRef,
  template: ScheduleTemplate | null,
): Promise<Made> {
  const { log } = ports;
  const found = await readMailing(log, first);
  if (wasStarted(found.state)) return { outcome: "made", madeId: first.jobId };
  if (template === null) return refusedFor("content-erased");
  const { recipientsOf } = mailingTemplateOf(template);
  const drafted = await draft(ports, firing, first, template);
  if ("outcome" in drafted) return drafted;
  const { mailing } = drafted;
  const source = await readMailing(log, { ...mailing, jobId: recipientsOf });
  if (source.state.status === "absent") return refusedFor("mailing-not-found");
  const chunks = recipientsIn(ports, { ...mailing, jobId: recipientsOf }, source.state);
  const file: LineFile = { type: ndjsonType, chunks };
  const imported = await ports.importer.import(mailing, file, firing.cause);
  if (imported.outcome === "busy" || imported.outcome === "conflict") {
    throw new Unavailable("Another import is running.");
  }
  if (imported.outcome === "unreadable") throw new Error("The recipients of a mailing cannot be read.");
  if (imported.outcome === "rejected") {
    // Started meanwhile, by this call before a crash or by a person; or there is no room for all recipients.
    const { state } = await readMailing(log, mailing);
    if (wasStarted(state)) return { outcome: "made", madeId: mailing.jobId };
    return refusedFor(imported.rejection.code);
  }
  // Nobody sees the faults of this import: to leave these recipients out would be noticed by nobody.
  if (imported.counts.faulty > 0) return refusedFor("validation-failed", [unfit]);
  return await start(ports, firing, mailing);
}

async function draft(
  ports: MakingPorts,
  { cause }: Firing,
  mailing: JobRef,
  body: ScheduleTemplate,
): Promise<{ readonly mailing: JobRef } | Made> {
  const { contentStore, templates, log, room, attemptsOfJob, now } = ports;
  const checked = await checkWithTemplate(mailingTemplateOf(body).request, {
    templates,
    tenant: mailing.tenant,
    earlier: templateOfMailing(ports, mailing),
    check: (filled) => checkMailingRequest(filled, rulesOf(ports, mailing.tenant)),
  });
  if (!checked.valid) return refusedFor("validation-failed", checked.faults);
  const { request, template } = checked.value;
  const at = now();
  const drafted = draftJob({
    job: mailing,
    isRepeatable: true,
    body,
    request,
    template,
    maxAttempts: attemptsOfJob,
    at,
  });
  const refusal = await refuseDraft(drafted, request, contentStore.maxBytes);
  if (refusal !== null) return refused(refusal);
  if (!(await room.isLeftForJobs())) throw noRoom();
  const creation = await createMailing(log, contentStore, toMailingDraft(drafted, request), cause, at);
  if (creation.outcome === "accepted") return { mailing: creation.mailing };
  // The draft has the letter of the former template, and perhaps recipients of that.
  const wasChanged = creation.rejection.code === "idempotency-key-reused";
  return refusedFor(wasChanged ? scheduleChanged : creation.rejection.code);
}

/** Those of the contents of its parts, one after the other: who was erased is in none of them. */
async function* recipientsIn(
  { contentStore }: MakingPorts,
  mailing: JobRef,
  { parts }: ExistingMailing,
): AsyncGenerator<Uint8Array> {
  for (const { jobId } of parts) {
    const content = await contentStore.get({ ...mailing, jobId });
    if (content === null) continue;
    const lines = decodeContent(content).recipients.flatMap((one) =>
      one === null ? [] : [`${JSON.stringify(one)}\n`],
    );
    yield Buffer.from(lines.join(""));
  }
}

/** As someone with the key that made the schedule: where an approval is needed, another one has to give it. */
async function start(ports: MakingPorts, { schedule, cause }: Firing, mailing: JobRef): Promise<Made> {
  const { log, room, now } = ports;
  const limits = ports.limitsOf(mailing.tenant);
  const terms = approvalTerms(schedule.changedBy, ports.approvalAbove, limits);
  const command = { type: "StartMailing", at: now(), scheduledAt: null, terms } as const;
  const from = await readMailing(log, mailing);
  if (wasStarted(from.state)) return { outcome: "made", madeId: mailing.jobId };
  // To ask for an approval takes room, too.
  if (!(await room.isLeftForJobs())) throw noRoom();
  const outcome = await decideMailing(ports, mailing, command, { limits, cause }, from);
  if (outcome.outcome === "accepted") return { outcome: "made", madeId: mailing.jobId };
  if (outcome.outcome === "refused") return refused(outcome.refusal);
  const { state } = await readMailing(log, mailing);
  if (wasStarted(state)) return { outcome: "made", madeId: mailing.jobId };
  return refusedFor(outcome.rejection.code);
}

/** Cancels the draft of a mailing that could not be started, because someone could find it later and start it. */
export async function cancelDraft({ log, now }: MakingPorts, { ref, last, cause }: Firing): Promise<void> {
  const mailing = { tenant: ref.tenant, jobId: last.madeId };
  const from = await readMailing(log, mailing);
  if (from.state.status !== "draft" || wasStarted(from.state)) return;
  const command = { type: "CancelMailing", at: now(), reason: "Its schedule could not start it." } as const;
  // Whatever a person decides at this moment stands: then this is tried again, and finds it.
  await handleMailingCommand(log, mailing, command, cause, { from, maxConflicts: 0 });
}
