import { type Static, type TObject, Type } from "typebox";
import { readMailing } from "../../commands/read-version.ts";
import { canBeToldApart } from "../../domain/mailing/approval.ts";
import { isTimeZone } from "../../domain/mailing/window.ts";
import type { Instant } from "../../domain/message.ts";
import type { ScheduleSettings } from "../../domain/schedule/events.ts";
import type { EventLog } from "../../event-log/event-log.ts";
import {
  checkRequest as checkJobRequest,
  jobCreation,
  type Refusal,
  refuseTooMany,
} from "../../intake/check-request.ts";
import { draftJob, refuseDraft } from "../../intake/draft-job.ts";
import { checkWithTemplate, noEarlierTemplate, type UsingTemplates } from "../../intake/use-template.ts";
import type { CallerRules } from "../../job-kinds/job-kind.ts";
import { type Checked, type Fault, failed, faultAt, faultsIn, shown } from "../../schemas/fault.ts";
import type { JobRequest } from "../../schemas/job-request.ts";
import { isObject } from "../../schemas/request-form.ts";
import { checkRequest, closed, singleLine } from "../../schemas/request-schema.ts";
import { checkMailingRequest, mailingCreation } from "../mailing-request.ts";
import { maxCronLength, whyNoCron } from "./due-times.ts";
import { mailingTemplateOf, type ScheduleTemplate } from "./schedule-content.ts";

/** Fields of a job that mean a time, or a request that makes nothing, and so make no sense again and again. */
const foreign = {
  scheduledAt: "cron says when",
  notAfter: "cron says when",
  dryRun: "POST /jobs shows the first mail",
} as const;

const ownFields = {
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: singleLine,
    description: "1 to 100 characters, without control characters",
  }),
  cron: Type.String({
    minLength: 1,
    maxLength: maxCronLength,
    description: "a cron expression of five fields such as 30 8 * * mon",
  }),
  timeZone: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: "a time zone such as Europe/Berlin" }),
  ),
  overlap: Type.Optional(Type.Enum(["skip", "queue"], { description: "skip or queue" })),
  catchUp: Type.Optional(Type.Enum(["none", "one"], { description: "none or one" })),
};

const expectedSource = "the id of a mailing, whose recipients each new mailing gets";
const recipientsOf = Type.String({
  pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
  description: expectedSource,
});

const source = "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e10";

/** The form of the request for a mailing, with what it has here instead of recipients of its own. */
function ofSchedule(form: TObject) {
  const { title, examples = [] } = form as { readonly title?: string; readonly examples?: readonly object[] };
  const fields = Object.entries(form.properties).filter(([name]) => !Object.hasOwn(foreign, name));
  return Type.Object(
    { ...Object.fromEntries(fields), recipientsOf },
    {
      ...closed,
      title: `${title}OfSchedule`,
      examples: examples.map((example) => ({ ...example, recipientsOf: source })),
    },
  );
}

/** The body of POST /schedules and PUT /schedules/:scheduleId as a schema. */
export const scheduleCreation = Type.Object(
  {
    ...ownFields,
    job: Type.Optional(jobCreation),
    mailing: Type.Optional(Type.Union(mailingCreation.anyOf.map((form) => ofSchedule(form as TObject)))),
  },
  {
    ...closed,
    title: "ScheduleRequest",
    examples: [
      {
        name: "Weekly report",
        cron: "30 8 * * mon",
        timeZone: "Europe/Berlin",
        overlap: "skip",
        job: { subject: "The week", text: "It was a good one.", recipients: ["Ada <ada@example.com>"] },
      },
    ],
  },
);

/** The template is checked by itself. */
const frame = Type.Object(
  { ...ownFields, job: Type.Optional(Type.Unknown()), mailing: Type.Optional(Type.Unknown()) },
  closed,
);
const readFrame = checkRequest(frame);
const readRecipientsOf = checkRequest(Type.Object({ recipientsOf }, { description: "an object" }));

export type ScheduleRequest = {
  readonly name: string;
  readonly settings: ScheduleSettings;
  readonly template: ScheduleTemplate;
};

export type RequestRules = {
  readonly rules: CallerRules;
  readonly templates: UsingTemplates["templates"];
  readonly log: EventLog;
  readonly tenant: string;
  readonly actor: string;
  readonly maxContentBytes: number;
  readonly at: Instant;
};

export type ReadSchedule =
  | { readonly outcome: "read"; readonly request: ScheduleRequest }
  | { readonly outcome: "refused"; readonly refusal: Refusal }
  | { readonly outcome: "approval-needs-keys" };

/**
 * Checks the schedule with the job or the mailing that it would make now: what would be refused today is refused, all faults at
 * once. Throws Unavailable.
 */
export async function readScheduleRequest(body: unknown, rules: RequestRules): Promise<ReadSchedule> {
  const checked = readFrame(body);
  const own = isObject(body) ? body : {};
  const clock = faultsOfClock(own, rules.at);
  const both = faultsOfBoth(own);
  const makes = "mailing" in own ? "mailing" : "job";
  const template = own[makes];
  const tooMany = makes === "job" ? refuseTooMany(template) : null;
  if (tooMany !== null) return { outcome: "refused", refusal: tooMany };
  const inTemplate = template === undefined ? null : await checkTemplate(makes, template, rules);
  const below = (inTemplate?.faults ?? []).map((fault) => under(makes, fault));
  const faults = faultsIn(checked, failed([...clock, ...both, ...below]));
  if (!checked.valid || faults.length > 0 || !isObject(template)) {
    return { outcome: "refused", refusal: { code: "validation-failed", faults } };
  }
  if (inTemplate?.refusal) return { outcome: "refused", refusal: inTemplate.refusal };
  if (makes === "mailing" && template["approval"] === "required" && !canBeToldApart(rules.actor)) {
    return { outcome: "approval-needs-keys" };
  }
  return { outcome: "read", request: toRequest(checked.value, makes, template) };
}

function toRequest(
  { name, cron, timeZone = "UTC", overlap = "skip", catchUp = "none" }: Static<typeof frame>,
  makes: "job" | "mailing",
  template: ScheduleTemplate,
): ScheduleRequest {
  const settings = { makes, cron: cron.trim().replace(/\s+/g, " "), timeZone, overlap, catchUp };
  return { name, settings, template };
}

function faultsOfClock({ cron, timeZone = "UTC" }: ScheduleTemplate, at: Instant): readonly Fault[] {
  if (typeof timeZone === "string" && !isZoneWithName(timeZone)) {
    return [faultAt("/timeZone", `is ${shown(timeZone)}; expected a time zone such as Europe/Berlin`)];
  }
  const why = typeof cron === "string" && typeof timeZone === "string" ? whyNoCron(cron, timeZone, at) : null;
  return why === null ? [] : [faultAt("/cron", `is ${shown(cron)}; ${why}`)];
}

/** A distance from UTC is no zone: it knows no daylight saving. */
const isZoneWithName = (name: string): boolean => /^[A-Za-z]/.test(name) && isTimeZone(name);

function faultsOfBoth(body: ScheduleTemplate): readonly Fault[] {
  const both = "job" in body && "mailing" in body;
  if (both) return [faultAt("/mailing", "is given beside job; expected one of them")];
  return "job" in body || "mailing" in body ? [] : [faultAt("/job", "is missing; expected it, or mailing")];
}

type FoundIn = { readonly faults: readonly Fault[]; readonly refusal?: Refusal };

async function checkTemplate(makes: "job" | "mailing", template: unknown, rules: RequestRules): Promise<FoundIn> {
  if (!isObject(template)) return { faults: [faultAt("", `is ${shown(template)}; expected an object`)] };
  const times = Object.entries(foreign)
    .filter(([name]) => Object.hasOwn(template, name))
    .map(([name, instead]) => faultAt(`/${name}`, `does not belong to a schedule; ${instead}`));
  const known = Object.fromEntries(Object.entries(template).filter(([name]) => !Object.hasOwn(foreign, name)));
  const found = makes === "job" ? await checkJob(known, rules) : await checkMailing(known, rules);
  return { ...found, faults: [...times, ...found.faults] };
}

const checkJob = (template: ScheduleTemplate, rules: RequestRules): Promise<FoundIn> =>
  checkLetter(template, rules, (filled) => checkJobRequest(filled, rules.rules));

async function checkMailing(template: ScheduleTemplate, rules: RequestRules): Promise<FoundIn> {
  const named = readRecipientsOf({ recipientsOf: template["recipientsOf"] ?? undefined });
  const { recipientsOf: source, request } = mailingTemplateOf(template);
  const faults = Object.hasOwn(template, "recipientsOf")
    ? named.valid
      ? await faultsOfSource(source, rules)
      : named.faults
    : [faultAt("/recipientsOf", `is missing; expected ${expectedSource}`)];
  const found = await checkLetter(request, rules, (filled) => checkMailingRequest(filled, rules.rules));
  return { ...found, faults: [...faults, ...found.faults] };
}

async function faultsOfSource(source: string, { log, tenant }: RequestRules): Promise<readonly Fault[]> {
  const { state } = await readMailing(log, { tenant, jobId: source.toLowerCase() });
  const isThere = state.status !== "absent" && !state.isErased;
  return isThere ? [] : [faultAt("/recipientsOf", `is ${shown(source)}; expected the id of a mailing that is there`)];
}

async function checkLetter(
  body: ScheduleTemplate,
  { templates, tenant, at, maxContentBytes }: RequestRules,
  check: (filled: unknown) => Checked<JobRequest>,
): Promise<FoundIn> {
  const checked = await checkWithTemplate(body, { templates, tenant, earlier: noEarlierTemplate, check });
  if (!checked.valid) return { faults: checked.faults };
  const { request, template } = checked.value;
  const job = { tenant, jobId: "schedule" };
  const draft = draftJob({ job, isRepeatable: false, body: null, request, template, maxAttempts: 1, at });
  const refusal = await refuseDraft(draft, request, maxContentBytes);
  if (refusal === null) return { faults: [] };
  return refusal.code === "validation-failed" ? { faults: refusal.faults } : { faults: [], refusal };
}

function under(makes: string, { pointer, message }: Fault): Fault {
  const place = message.startsWith("the body ") ? message.replace("the body", makes) : `${makes}.${message}`;
  return { pointer: `/${makes}${pointer}`, message: place.replace(`${makes}.[`, `${makes}[`) };
}
