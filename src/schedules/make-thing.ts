import { handleMailingCommand } from "../commands/handle-command.ts";
import { readMailing } from "../commands/read-version.ts";
import { decodeContent } from "../content/encode-content.ts";
import type { ExistingMailing, MailingState } from "../domain/mailing/state.ts";
import type { Instant } from "../domain/message.ts";
import type { LastFiring, Schedule } from "../domain/schedule/events.ts";
import type { CallerLimits } from "../domain/tenant.ts";
import { Unavailable } from "../domain/unavailable.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { LogFull } from "../event-log/log-failures.ts";
import { findAccepted } from "../intake/accept-job.ts";
import { checkRequest, type Refusal, refuseTooMany } from "../intake/check-request.ts";
import { type CreationDependencies, createJob } from "../intake/create-job.ts";
import { draftJob, refuseDraft } from "../intake/draft-job.ts";
import { checkWithTemplate, templateOfJob, templateOfMailing, type UsingTemplates } from "../intake/use-template.ts";
import type { CallerRules } from "../job-kinds/job-kind.ts";
import { createMailing, toMailingDraft } from "../mailings/create-mailing.ts";
import { approvalTerms, decideMailing } from "../mailings/decide-mailing.ts";
import type { Importer } from "../mailings/import-recipients.ts";
import { checkMailingRequest } from "../mailings/mailing-request.ts";
import type { Fault } from "../schemas/fault.ts";
import { type LineFile, ndjsonType } from "../schemas/line-file.ts";
import { mailingTemplateOf, type ScheduleTemplate, templateOf } from "./schedule-content.ts";

export type MakingPorts = CreationDependencies &
  Pick<CallerRules, "allowed" | "publicUrl"> &
  Pick<UsingTemplates, "templates"> & {
    readonly importer: Importer;
    readonly routesFor: (tenant: string, from: string | undefined) => readonly string[];
    /** The limits of a tenant as they are now. */
    readonly limitsOf: (tenant: string) => CallerLimits;
    /** A mailing with more recipients needs an approval, of any tenant; null for no limit. */
    readonly approvalAbove: number | null;
    /** The number of attempts for a job that does not name one. */
    readonly attemptsOfJob: number;
    readonly now: () => Instant;
  };

/** It was made, now or before, under the id of the firing or, where that was abandoned, another one; or it was refused. */
export type Made =
  | { readonly outcome: "made"; readonly madeId: string }
  | { readonly outcome: "refused"; readonly code: string; readonly places: readonly string[] };

/** A firing, and the schedule as it is by now. */
export type Firing = {
  readonly ref: JobRef;
  readonly schedule: Schedule;
  readonly last: LastFiring;
  readonly cause: Cause;
};

const maxPlaces = 20;

const noRoom = (): LogFull => new LogFull("There is no room for what a schedule makes.");

/** The places alone: what stands there may be an address. */
const refusedFor = (code: string, faults: readonly Fault[] = []): Made => ({
  outcome: "refused",
  code,
  places: faults.slice(0, maxPlaces).map(({ pointer }) => pointer.slice(0, 200)),
});

/** What may be over soon is tried again. */
function refused(refusal: Refusal): Made {
  if (refusal.code === "event-log-full") throw noRoom();
  if (refusal.code === "rejected") return refusedFor(refusal.rejection.code);
  return refusedFor(refusal.code, refusal.code === "validation-failed" ? refusal.faults : []);
}

/**
 * Makes what a firing is to make, under the id that the firing names: however often, and by however many processes at the
 * same moment, it is made once. Throws what may be over soon.
 */
export async function makeThing(ports: MakingPorts, firing: Firing): Promise<Made> {
  const { ref, schedule, last } = firing;
  const made: JobRef = { tenant: ref.tenant, jobId: last.madeId };
  const isMailing = schedule.makes === "mailing";
  const before = isMailing ? null : await findAccepted(ports.log, made);
  if (before !== null) return { outcome: "made", madeId: before.job.jobId };
  const stored = await ports.contentStore.get({ tenant: ref.tenant, jobId: schedule.contentId });
  const template = stored === null ? null : templateOf(decodeContent(stored), schedule.makes);
  if (isMailing) return await makeMailing(ports, firing, made, template);
  if (template === null) return refusedFor("content-erased");
  const outcome = await makeJob(ports, firing, made, template);
  if (outcome.outcome === "made") return outcome;
  // Another process may have made it meanwhile, of the template as it was before.
  const there = await findAccepted(ports.log, made);
  return there === null ? outcome : { outcome: "made", madeId: there.job.jobId };
}

const rulesOf = ({ limitsOf, allowed, publicUrl, routesFor }: MakingPorts, tenant: string): CallerRules => ({
  senders: limitsOf(tenant).senders,
  allowed,
  publicUrl,
  routesFor: (from) => routesFor(tenant, from),
});

async function makeJob(ports: MakingPorts, { cause }: Firing, job: JobRef, body: ScheduleTemplate): Promise<Made> {
  const { contentStore, templates, attemptsOfJob, now } = ports;
  const tooMany = refuseTooMany(body);
  if (tooMany !== null) return refused(tooMany);
  const limits = ports.limitsOf(job.tenant);
  const earlier = templateOfJob(ports, job);
  const check = (filled: unknown) => checkRequest(filled, rulesOf(ports, job.tenant));
  const checked = await checkWithTemplate(body, { templates, tenant: job.tenant, earlier, check });
  if (!checked.valid) return refusedFor("validation-failed", checked.faults);
  const { request, template } = checked.value;
  const at = now();
  const draft = draftJob({ job, isRepeatable: true, body, request, template, maxAttempts: attemptsOfJob, at });
  const refusal = await refuseDraft(draft, request, contentStore.maxBytes);
  if (refusal !== null) return refused(refusal);
  const creation = await createJob(ports, draft, { limits, cause, at });
  if (creation.outcome === "refused") return refused(creation.refusal);
  return { outcome: "made", madeId: creation.job.jobId };
}

/** A person has decided about it since, or its start was recorded before a crash. */
const wasStarted = ({ status, wasUndone, approval }: ExistingMailing): boolean =>
  status !== "draft" || wasUndone || approval !== null;

/** A draft with the recipients that the other mailing has now, which is then started. Each step is there once. */
async function makeMailing(
  ports: MakingPorts,
  firing: Firing,
  first: JobRef,
  template: ScheduleTemplate | null,
): Promise<Made> {
  const { log } = ports;
  const found = await readMailing(log, first);
  if (found.state.status !== "absent" && wasStarted(found.state)) return { outcome: "made", madeId: first.jobId };
  if (template === null) return refusedFor("content-erased");
  const { recipientsOf, request } = mailingTemplateOf(template);
  const drafted = await draft(ports, firing, first, request);
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
    if (state.status !== "absent" && wasStarted(state)) return { outcome: "made", madeId: mailing.jobId };
    return refusedFor(imported.rejection.code);
  }
  return await start(ports, firing, mailing);
}

async function draft(
  ports: MakingPorts,
  { cause }: Firing,
  mailing: JobRef,
  body: ScheduleTemplate,
): Promise<{ readonly mailing: JobRef } | Made> {
  const { contentStore, templates, log, room, attemptsOfJob, now } = ports;
  const checked = await checkWithTemplate(body, {
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
  if (creation.outcome === "rejected") {
    // The template was changed after the draft was made: the draft stands.
    return (await readMailing(log, mailing)).state.status === "absent"
      ? refusedFor(creation.rejection.code)
      : { mailing };
  }
  return { mailing: creation.mailing };
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
  if (from.state.status !== "absent" && wasStarted(from.state)) return { outcome: "made", madeId: mailing.jobId };
  // To ask for an approval takes room, too.
  if (!(await room.isLeftForJobs())) throw noRoom();
  const outcome = await decideMailing(ports, mailing, command, { limits, cause }, from);
  if (outcome.outcome === "accepted") return { outcome: "made", madeId: mailing.jobId };
  if (outcome.outcome === "refused") return refused(outcome.refusal);
  const { state } = await readMailing(log, mailing);
  if (state.status !== "absent" && wasStarted(state)) return { outcome: "made", madeId: mailing.jobId };
  return refusedFor(outcome.rejection.code);
}

/** Nothing is left of a mailing that could not be started: nobody is to find it as a draft, and wonder. */
export async function cancelDraft({ log, now }: MakingPorts, { ref, last, cause }: Firing): Promise<void> {
  const mailing = { tenant: ref.tenant, jobId: last.madeId };
  const { state }: { readonly state: MailingState } = await readMailing(log, mailing);
  if (state.status !== "draft" || wasStarted(state)) return;
  const command = { type: "CancelMailing", at: now(), reason: "Its schedule could not start it." } as const;
  await handleMailingCommand(log, mailing, command, cause);
}
