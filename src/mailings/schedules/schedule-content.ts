import type { ContentRecipient, JobContent } from "../../content/content-store.ts";
import { defaultJobType } from "../../domain/job/events.ts";
import type { MadeThing } from "../../domain/schedule/events.ts";
import { toRecipient } from "../../intake/draft-job.ts";
import { findKind } from "../../job-kinds/all-job-kinds.ts";
import type { JobKind } from "../../job-kinds/job-kind.ts";
import type { RequestedRecipient } from "../../schemas/job-request.ts";

/** The request that each firing repeats. */
export type ScheduleTemplate = Readonly<Record<string, unknown>>;

/** A mailing whose recipients each new mailing gets, and the request for that mailing. */
export type MailingTemplate = { readonly recipientsOf: string; readonly request: ScheduleTemplate };

const noMail = { subject: null, html: null, text: null, from: null, replyTo: null, headers: {} };

const kindOfTemplate = ({ type = defaultJobType }: ScheduleTemplate): JobKind | undefined =>
  typeof type === "string" ? findKind(type) : undefined;

/** The recipients stand where those of a job do, so that what erases a person finds them. */
export function toScheduleContent(scheduleId: string, name: string, template: ScheduleTemplate): JobContent {
  const { recipients, ...payload } = template;
  const kind = kindOfTemplate(template);
  const requested = Array.isArray(recipients) ? (recipients as readonly RequestedRecipient[]) : [];
  const named = kind === undefined ? [] : requested.map((recipient) => toRecipient(recipient, kind));
  return { name, metadata: {}, ...noMail, recipients: named, scheduleId, payload };
}

/** The request, as it was given but for who was erased since. */
export function templateOf({ payload, recipients }: JobContent, makes: MadeThing): ScheduleTemplate {
  const template = (payload ?? {}) as ScheduleTemplate;
  const key = kindOfTemplate(template)?.recipients?.key;
  if (makes === "mailing" || key === undefined) return template;
  const requested = recipients.flatMap((recipient) => (recipient === null ? [] : [toRequested(recipient, key)]));
  return { ...template, recipients: requested };
}

function toRequested({ email, ...others }: ContentRecipient, key: string): RequestedRecipient {
  return Object.keys(others).length === 0 ? email : { [key]: email, ...others };
}

/** The parts of the template of a mailing. */
export function mailingTemplateOf({ recipientsOf, ...request }: ScheduleTemplate): MailingTemplate {
  return { recipientsOf: String(recipientsOf), request };
}
