import { readMailing } from "../../commands/read-version.ts";
import { decodeContent } from "../../content/encode-content.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { findAccepted } from "../../intake/accept-job.ts";
import { checkRequest, refuseTooMany } from "../../intake/check-request.ts";
import { createJob } from "../../intake/create-job.ts";
import { draftJob, refuseDraft } from "../../intake/draft-job.ts";
import { checkWithTemplate, templateOfJob } from "../../intake/use-template.ts";
import { makeMailing, wasStarted } from "./make-mailing.ts";
import { type Firing, type Made, type MakingPorts, refused, refusedFor, rulesOf, scheduleChanged } from "./making.ts";
import { type ScheduleTemplate, templateOf } from "./schedule-content.ts";

/**
 * Makes what a firing is to make, under the id that the firing names: however often, and by however many processes at the
 * same moment, it is made once. Throws what may be over soon.
 */
export async function makeThing(ports: MakingPorts, firing: Firing): Promise<Made> {
  const { ref, schedule, last } = firing;
  const made: JobRef = { tenant: ref.tenant, jobId: last.madeId };
  const isMailing = schedule.makes === "mailing";
  // Also for a mailing: the schedule may have made jobs when it fired.
  const before = await findAccepted(ports.log, made);
  if (before !== null) return { outcome: "made", madeId: before.job.jobId };
  // This process may have stood still: by rules that are out of date, the firing would fail for good.
  await ports.refreshRules();
  const stored = await ports.contentStore.get({ tenant: ref.tenant, jobId: schedule.contentId });
  const template = stored === null ? null : templateOf(decodeContent(stored), schedule.makes);
  if (isMailing) return await makeMailing(ports, firing, made, template);
  if (template === null) return refusedFor("content-erased");
  const outcome = await makeJob(ports, firing, made, template);
  if (outcome.outcome === "made") return outcome;
  // Another process may have made it meanwhile, of the template as it was before.
  const there = await findAccepted(ports.log, made);
  if (there !== null) return { outcome: "made", madeId: there.job.jobId };
  // Or a mailing, which the schedule made when it fired.
  const { state } = await readMailing(ports.log, made);
  if (wasStarted(state)) return { outcome: "made", madeId: made.jobId };
  return state.status === "absent" ? outcome : refusedFor(scheduleChanged);
}

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
