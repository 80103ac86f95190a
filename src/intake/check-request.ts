import { Type } from "typebox";
import type { JobRejection } from "../domain/job/state.ts";
import type { Instant } from "../domain/message.ts";
import { allJobKinds, kindOf, readJobRequest } from "../job-kinds/all-job-kinds.ts";
import type { CallerRules, LetterFields } from "../job-kinds/job-kind.ts";
import { type Checked, type Fault, failed, faultsIn, passed, shown } from "../schemas/fault.ts";
import { type JobRequest, maxRecipients } from "../schemas/job-request.ts";
import { fieldsOf, type RequestForm, someRecipients } from "../schemas/request-form.ts";
import { closed } from "../schemas/request-schema.ts";
import { type AllowedNetworks, whyNotToCall } from "../signed-post/addresses.ts";

/** The limit of the JSON that asks for a job: room for 5 MB of attachments in base64, beside the megabyte of content. */
export const maxRequestBytes = 9 * 1024 * 1024;

/** This check comes before all others: a request with a million recipients is not even looked through. */
export function refuseTooMany(body: unknown): Refusal | null {
  const recipients = typeof body === "object" && body !== null && "recipients" in body ? body.recipients : undefined;
  const count = Array.isArray(recipients) ? recipients.length : 0;
  return count > maxRecipients ? { code: "too-many-recipients", count } : null;
}

/** The request in a JSON value, or all of its faults at once, in its shape and in what this caller may ask for. */
export function checkRequest(body: unknown, rules: CallerRules, read = readJobRequest): Checked<JobRequest> {
  const request = read(body);
  if (!request.valid) return request;
  const own = kindOf(request.value.type).check?.(request.value, rules) ?? passed(null);
  const url = checkWebhookUrl(request.value.webhookUrl, "webhookUrl", rules.allowed);
  return own.valid && url.valid ? passed(request.value) : { valid: false, faults: faultsIn(own, url) };
}

/** Whether the service may call the URL, as far as the URL alone shows; `field` is its place in the body. */
export function checkWebhookUrl(url: string | undefined, field: string, allowed: AllowedNetworks): Checked<null> {
  const expected = url === undefined ? null : whyNotToCall(url, allowed);
  if (expected === null) return passed(null);
  // The text leaves the URL out: the faulty part may be the password in it.
  const found = url !== undefined && URL.canParse(url) ? "cannot be called" : `is ${shown(url)}`;
  return failed([{ pointer: `/${field}`, message: `${field} ${found}; expected ${expected}` }]);
}

/** Why a request created no job. Nothing was stored, or, for some refusals, only content that no event names. */
export type Refusal =
  | { readonly code: "validation-failed"; readonly faults: readonly Fault[] }
  | { readonly code: "too-many-recipients"; readonly count: number }
  | {
      readonly code: "content-too-large";
      readonly of: "content" | "attachments";
      readonly bytes: number;
      readonly maxBytes: number;
    }
  /** May be over soon, as may the one below. */
  | { readonly code: "event-log-full" }
  | {
      readonly code: "quota-exceeded";
      readonly recipients: number;
      readonly limit: number;
      readonly left: number;
      readonly resetsAt: Instant;
    }
  /** The rules of the job refused the decision. */
  | { readonly code: "rejected"; readonly rejection: JobRejection };

/** In place of the words of a letter. */
export const templateReference = Type.String({
  pattern: "^[a-z0-9][a-z0-9_-]{0,63}(@[1-9][0-9]{0,5})?$",
  description: "the name of a template, which means its latest version, or the name with a version: welcome@3",
});

/** The body of POST /jobs as one schema. The service checks it piece by piece, by the same pieces (see request-form.ts). */
export const jobCreation = Type.Union(
  allJobKinds.flatMap((form, index) => [
    formSchema(form, index === 0),
    ...(form.letter === undefined ? [] : [formWithTemplate(form, form.letter, index === 0)]),
  ]),
);

/** The same request with the name of a template in place of the words. */
function formWithTemplate(form: RequestForm, { words }: LetterFields, isUsual: boolean) {
  const others = Object.entries(formSchema(form, isUsual).properties).filter(([name]) => !words.includes(name));
  const fields = { ...Object.fromEntries(others), template: templateReference };
  const examples = [exampleWithTemplate(form, words)];
  return Type.Object(fields, { ...closed, title: `${titleOf(form)}WithTemplate`, examples });
}

/** What a request says that names a template, of all that one says which has its own words. */
export function exampleWithTemplate({ example }: RequestForm, words: readonly string[]): object {
  const others = Object.entries(example).filter(([name]) => !words.includes(name));
  return { template: "welcome@1", ...Object.fromEntries(others) };
}

/** The first kind is the default; a request need not name it. */
function formSchema(form: RequestForm, isUsual: boolean) {
  const { recipients: _, ...fields } = fieldsOf(form);
  const type = Type.Literal(form.type);
  return Type.Object(
    {
      ...fields,
      type: isUsual ? Type.Optional(type) : type,
      ...(form.recipients === null
        ? {}
        : { recipients: Type.Array(Type.Union([form.recipients.text, form.recipients.object]), someRecipients) }),
    },
    { ...closed, title: titleOf(form), examples: [form.example] },
  );
}

function titleOf({ type }: RequestForm): string {
  return `${type.replace(/(?:^|\.)(.)/g, (_, letter: string) => letter.toUpperCase())}Request`;
}
