import type { ContentStore } from "../content/content-store.ts";
import type { StoredVersion, TemplateRef, TemplateStore } from "../content/template-store.ts";
import { defaultJobType } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import { kindOf } from "../job-kinds/all-job-kinds.ts";
import type { CallerRules, ShowPorts } from "../job-kinds/job-kind.ts";
import type { Fault } from "../schemas/fault.ts";
import type { JobRequest } from "../schemas/job-request.ts";
import { checkRequest, type Refusal } from "./check-request.ts";
import { draftJob, type JobDraft, refuseDraft } from "./draft-job.ts";
import { checkTemplateRequest, toStoredLetter } from "./template-request.ts";

type Refused = { readonly outcome: "refused"; readonly refusal: Refusal };

type PutPorts = {
  readonly templates: Pick<TemplateStore, "put">;
  readonly contentStore: Pick<ContentStore, "maxBytes">;
};

export type PutTemplate =
  | { readonly outcome: "stored"; readonly stored: StoredVersion }
  /** The name has as many versions as it may have. */
  | { readonly outcome: "full" }
  | Refused;

/** Stores the letter in a JSON value, if a job that had it would be accepted. Throws LogFull and Unavailable. */
export async function putTemplate(
  { templates, contentStore }: PutPorts,
  ref: TemplateRef,
  body: unknown,
  rules: CallerRules,
  at: Instant,
): Promise<PutTemplate> {
  const checked = checkTemplateRequest(body, rules);
  if (!checked.valid) return invalid(checked.faults);
  const draft = draftOf(ref.tenant, checked.value, at);
  const refusal = await refuseDraft(draft, checked.value, contentStore.maxBytes);
  if (refusal !== null) return { outcome: "refused", refusal };
  const stored = await templates.put(ref, toStoredLetter(checked.value), at);
  return stored === null ? { outcome: "full" } : { outcome: "stored", stored };
}

export type PreviewedLetter = {
  readonly tenant: string;
  /** The fields of the stored letter. */
  readonly letter: Readonly<Record<string, unknown>>;
  readonly email: string;
  readonly variables: Readonly<Record<string, unknown>>;
};

type PreviewPorts = Pick<ShowPorts, "mail"> & { readonly contentStore: Pick<ContentStore, "maxBytes"> };

export type PreviewTemplate = { readonly outcome: "shown"; readonly shown: object } | Refused;

/** Fills in a letter for one recipient, as a dry run of a job would. Faults point into the variables. */
export async function previewTemplate(
  { mail, contentStore }: PreviewPorts,
  { tenant, letter, email, variables }: PreviewedLetter,
  rules: CallerRules,
  at: Instant,
): Promise<PreviewTemplate> {
  const checked = checkRequest({ ...letter, recipients: [{ email, variables }] }, rules);
  if (!checked.valid) return invalid(checked.faults);
  const draft = draftOf(tenant, checked.value, at);
  const refusal = await refuseDraft(draft, checked.value, contentStore.maxBytes);
  if (refusal?.code === "validation-failed") return invalid(refusal.faults.map(asFaultOfVariables));
  if (refusal !== null) return { outcome: "refused", refusal };
  const { dryRun } = kindOf(defaultJobType);
  if (dryRun === undefined) throw new Error("The kind of job that has templates cannot show its messages.");
  return { outcome: "shown", shown: await dryRun(draft, { mail }, at) };
}

const invalid = (faults: readonly Fault[]): Refused => ({
  outcome: "refused",
  refusal: { code: "validation-failed", faults },
});

/** The job that a letter would become, to be checked and shown: it is not created. */
const draftOf = (tenant: string, request: JobRequest, at: Instant): JobDraft =>
  draftJob({ job: { tenant, jobId: "preview" }, isRepeatable: false, body: null, request, maxAttempts: 1, at });

/** The only recipient is the one that the variables are of. */
const asFaultOfVariables = ({ pointer, message }: Fault): Fault => ({
  pointer: pointer.replace("/recipients/0", "/variables"),
  message: message.replace("recipients[0]", "variables"),
});
