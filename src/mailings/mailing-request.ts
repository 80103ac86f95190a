import { type Static, type TObject, Type } from "typebox";
import { defaultJobType } from "../domain/job/events.ts";
import { checkRequest, exampleWithTemplate, templateReference } from "../intake/check-request.ts";
import { kindOf } from "../job-kinds/all-job-kinds.ts";
import type { CallerRules } from "../job-kinds/job-kind.ts";
import { type Checked, failed, faultAt, faultsIn, passed } from "../schemas/fault.ts";
import type { JobRequest } from "../schemas/job-request.ts";
import { createRequestReader } from "../schemas/read-job-request.ts";
import { fieldsOf, isObject, type RequestForm } from "../schemas/request-form.ts";
import { closed } from "../schemas/request-schema.ts";
import { brakeFields, faultsOfBrakes } from "./brake-fields.ts";

const { dryRun: _, ...letter } = kindOf(defaultJobType);

/** What a mailing has and a job has not. */
const ownFields = {
  ...brakeFields,
  undoFor: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 86_400, description: "seconds, a whole number from 0 to 86400" }),
  ),
  approval: Type.Optional(Type.Literal("required", { description: "required" })),
};

/** A mailing is asked for as a job is, and its recipients come later. */
const form: RequestForm = {
  ...letter,
  fields: { ...letter.fields, ...ownFields },
  recipients: null,
  example: {
    name: "Autumn",
    subject: "Hello {{ name }}",
    html: "<p>Dear {{ name }}</p>",
    undoFor: 600,
    rate: 50_000,
    stopWhen: { failureRate: 0.05, after: 500 },
  },
  contradictions: (body) => [...(letter.contradictions?.(body) ?? []), ...faultsOfBrakes(body)],
};

/** The fields that a request for a job does not have are absent in the letter of a mailing that none of them concerns. */
export type MailingRequest = JobRequest & Static<TObject<typeof ownFields>>;

/** Fields of a job that a mailing does not have, and what a request should do instead. */
const foreign = {
  recipients: "PUT /mailings/:mailingId/recipients takes them",
  scheduledAt: "POST /mailings/:mailingId/start takes it",
} as const;

const { scheduledAt: _time, ...fields } = fieldsOf(form);

const type = Type.Optional(Type.Literal(form.type));
const words = new Set(letter.letter?.words);
const withoutWords = Object.fromEntries(Object.entries(fields).filter(([name]) => !words.has(name)));

/** The body of POST /mailings as a schema. */
export const mailingCreation = Type.Union([
  Type.Object({ ...fields, type }, { ...closed, title: "MailingRequest", examples: [form.example] }),
  Type.Object(
    { ...withoutWords, type, template: templateReference },
    { ...closed, title: "MailingRequestWithTemplate", examples: [exampleWithTemplate(form, [...words])] },
  ),
]);

const readFields = createRequestReader([form], form.type);

/** The request in a JSON value, or all of its faults at once. */
export const checkMailingRequest = (body: unknown, rules: CallerRules): Checked<MailingRequest> =>
  checkRequest(body, rules, readRequest);

function readRequest(body: unknown): Checked<JobRequest> {
  if (!isObject(body)) return readFields(body);
  const known = Object.fromEntries(Object.entries(body).filter(([name]) => !Object.hasOwn(foreign, name)));
  const faults = Object.entries(foreign)
    .filter(([name]) => Object.hasOwn(body, name))
    .map(([name, instead]) => faultAt(`/${name}`, `does not belong to a mailing; ${instead}`));
  const request = readFields(known);
  if (faults.length === 0) return request;
  return failed(faultsIn(failed(faults), request.valid ? passed(null) : request));
}
