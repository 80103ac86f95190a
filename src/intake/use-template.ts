import { readMailing } from "../commands/read-version.ts";
import type { ContentStore, JobContent } from "../content/content-store.ts";
import { decodeContent } from "../content/encode-content.ts";
import { findVersion, type Template, type TemplateStore } from "../content/template-store.ts";
import { defaultJobType, type TemplateUse } from "../domain/job/events.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";
import { findKind } from "../job-kinds/all-job-kinds.ts";
import type { LetterFields } from "../job-kinds/job-kind.ts";
import { type Checked, type Fault, failed, faultAt, passed, shown } from "../schemas/fault.ts";
import type { JobRequest } from "../schemas/job-request.ts";
import { isObject } from "../schemas/request-form.ts";
import { findAccepted } from "./accept-job.ts";

type Body = Readonly<Record<string, unknown>>;

/** A checked request, with the words of the template that it names, if it names one. */
export type RequestWithWords<Request> = { readonly request: Request; readonly template: TemplateUse | null };

export type UsingTemplates<Request = JobRequest> = {
  readonly templates: Pick<TemplateStore, "find" | "letter">;
  readonly tenant: string;
  /** The template that an earlier request of the same key used, if any: a name without a version means it again. */
  readonly earlier: () => Promise<TemplateUse | null>;
  readonly check: (body: unknown) => Checked<Request>;
};

/**
 * Checks a request after the words of its template were put in place of the name. The words are copied: what happens to
 * the template later changes no job. Throws Unavailable.
 */
export async function checkWithTemplate<Request>(
  body: unknown,
  using: UsingTemplates<Request>,
): Promise<Checked<RequestWithWords<Request>>> {
  const fields = isObject(body) && Object.hasOwn(body, "template") ? fieldsOf(body) : undefined;
  // For a kind without templates the check says that the field is unknown.
  if (!isObject(body) || fields === undefined) return withTemplate(using.check(body), null);
  const { template: reference, ...own } = body;
  const beside = fields.words
    .filter((word) => Object.hasOwn(own, word))
    .map((word) => faultAt(`/${word}`, "is given beside template; expected one of them"));
  const found = await findLetter(using, reference);
  if (!found.valid || beside.length > 0)
    return failed([...beside, ...faultsOf(found), ...faultsOfRest(own, fields, using)]);
  return withTemplate(using.check({ ...found.value.letter, ...own }), found.value.use);
}

const withTemplate = <Request>(
  checked: Checked<Request>,
  template: TemplateUse | null,
): Checked<RequestWithWords<Request>> => (checked.valid ? passed({ request: checked.value, template }) : checked);

const faultsOf = (checked: Checked<unknown>): readonly Fault[] => (checked.valid ? [] : checked.faults);

const fieldsOf = ({ type = defaultJobType }: Body): LetterFields | undefined =>
  typeof type === "string" ? findKind(type)?.letter : undefined;

/** The faults of a request whose template is not to be had; that its words are missing is none of them. */
const faultsOfRest = (own: Body, { words }: LetterFields, { check }: UsingTemplates<unknown>): readonly Fault[] =>
  faultsOf(check(own)).filter(({ pointer }) => !words.includes(pointer.slice(1)));

type Found = { readonly use: TemplateUse; readonly letter: Body };

/** `welcome`, which means the latest version, or `welcome@3`. */
const form = /^([a-z0-9][a-z0-9_-]{0,63})(?:@([1-9]\d{0,5}))?$/;

export const expectedTemplateName = "1 to 64 lower-case letters, digits, _ and -, a letter or digit first";

export const isTemplateName = (text: string): boolean => !text.includes("@") && form.test(text);

async function findLetter(
  { templates, tenant, earlier }: UsingTemplates<unknown>,
  reference: unknown,
): Promise<Checked<Found>> {
  const [whole, name = "", version] = typeof reference === "string" ? (form.exec(reference) ?? []) : [];
  if (whole === undefined) return unusable(reference, "expected the name of a template such as welcome or welcome@3");
  const used = await earlier();
  const isAgain = used?.name === name && (version === undefined || Number(version) === used.version);
  const template = await templates.find({ tenant, name });
  if (template === null) return unusable(reference, "expected the name of a stored template");
  if (template.archivedAt !== null && !isAgain) return unusable(reference, "but this template is archived");
  const wanted = isAgain ? used.version : version === undefined ? null : Number(version);
  const found = findVersion(template, wanted);
  if (found === undefined) return unusable(reference, `expected a version from 1 to ${template.versions.length}`);
  const use = { name, version: found.version, sha256: found.sha256 };
  return passed({ use, letter: await readLetter(templates, tenant, template, use) });
}

const unusable = (reference: unknown, expected: string): Checked<never> =>
  failed([faultAt("/template", `is ${shown(reference)}; ${expected}`)]);

/** The fields of a stored letter, as a request has them. Throws where the store has lost it, which no request can mend. */
export async function readLetter(
  templates: Pick<TemplateStore, "letter">,
  tenant: string,
  { name }: Template,
  { version, sha256 }: Pick<TemplateUse, "version" | "sha256">,
): Promise<Body> {
  const text = await templates.letter({ tenant, name }, sha256);
  if (text !== null) return JSON.parse(text);
  throw new Error(`The letter of version ${version} of the template ${name} is gone, or is not what was stored.`);
}

type Ports = { readonly log: EventLog; readonly contentStore: Pick<ContentStore, "get"> };

/**
 * The template that the request for this job used: of the job, or, where a process died before it created the job, of the
 * content that it had stored. So a repeated request means the same words, though there are newer ones by now.
 */
export const templateOfJob =
  ({ log, contentStore }: Ports, job: JobRef) =>
  async (): Promise<TemplateUse | null> => {
    const accepted = await findAccepted(log, job);
    return accepted === null ? await templateOfContent(contentStore, job) : (accepted.created.data.template ?? null);
  };

/** The same of a mailing. */
export const templateOfMailing =
  ({ log, contentStore }: Ports, mailing: JobRef) =>
  async (): Promise<TemplateUse | null> => {
    const { state } = await readMailing(log, mailing);
    return state.status === "absent"
      ? await templateOfContent(contentStore, mailing)
      : (state.settings.template ?? null);
  };

async function templateOfContent({ get }: Ports["contentStore"], job: JobRef): Promise<TemplateUse | null> {
  const stored = await get(job);
  const content: Pick<JobContent, "fromTemplate"> = stored === null ? {} : decodeContent(stored);
  return content.fromTemplate ?? null;
}

/** For a request without a key: no earlier one can be told. */
export const noEarlierTemplate = async (): Promise<null> => null;
