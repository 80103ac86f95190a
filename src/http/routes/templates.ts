import { findVersion, maxVersions, type Template, type TemplateVersion } from "../../content/template-store.ts";
import { maxRequestBytes } from "../../intake/check-request.ts";
import { previewTemplate, putTemplate } from "../../intake/put-template.ts";
import { checkPreviewRequest, previewRequest, templateRequest } from "../../intake/template-request.ts";
import { expectedTemplateName, isTemplateName, readLetter } from "../../intake/use-template.ts";
import { shown } from "../../schemas/fault.ts";
import type { dryRunResult } from "../answers/job.ts";
import type { AnswerOf } from "../answers/parts.ts";
import {
  storedTemplate,
  templatePage,
  templatePreview,
  template as templateSchema,
  templateVersion,
  toSummaryAnswer,
  toTemplateAnswer,
  toVersionAnswer,
} from "../answers/template.ts";
import { type Answer, json, refuse, refuseFaults } from "../server/answer.ts";
import { type Parameters, whole } from "../server/query.ts";
import { type ApiRequest, needed, optional, type Route, route } from "../server/route.ts";
import { refuseCreation } from "./create-job.ts";
import { type RouteDependencies, rulesOf } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "templates" | "contentStore" | "webhooks" | "mail" | "routesFor" | "now">;

type ListQuery = { readonly cursor: number | null; readonly limit: number };

const parameters: Parameters<ListQuery> = {
  cursor: whole(null, 1, Number.MAX_SAFE_INTEGER),
  limit: whole(20, 1, 100),
};

/** Letters that a tenant stores under names, and that requests then name. These routes need no read model. */
export const templateRoutes = (dependencies: Dependencies): readonly Route[] => [
  route<ListQuery>({
    method: "GET",
    path: "/templates",
    describes: {
      operation: "listTemplates",
      summary: "The tenant's templates that are not archived; the one that was changed last comes last.",
      answers: { 200: { is: "A page of them.", json: templatePage } },
      needs: ["log"],
    },
    query: parameters,
    handle: async ({ context, query: { cursor, limit }, inTime }) => {
      const { templates, next } = await inTime(dependencies).templates.page(context.tenant, {
        after: cursor ?? 0,
        limit,
      });
      const nextCursor = next === null ? null : String(next);
      const body: AnswerOf<typeof templatePage> = { data: templates.map(toSummaryAnswer), nextCursor };
      return json(body);
    },
  }),
  route({
    method: "PUT",
    path: "/templates/:name",
    describes: {
      operation: "putTemplate",
      summary: "Store a letter as the next version of a template. A letter that it has keeps its version.",
      body: needed(templateRequest),
      answers: {
        200: { is: "One of the versions is this letter: that version.", json: storedTemplate },
        201: { is: "The new version.", json: storedTemplate },
      },
      needs: ["log-writes"],
      problems: ["content-too-large", "too-many-template-versions"],
    },
    takesBody: true,
    maxBodyBytes: maxRequestBytes,
    handle: (request) => answerToPut(dependencies, request),
  }),
  route({
    method: "GET",
    path: "/templates/:name",
    describes: {
      operation: "readTemplate",
      summary: "A template with all its versions, and the letter of the latest one; also an archived one.",
      answers: { 200: { is: "The template.", json: templateSchema } },
      needs: ["log"],
      problems: ["template-not-found"],
    },
    handle: async (request) => {
      const found = await find(dependencies, request, null);
      return found === null ? templateNotFound() : json(toTemplateAnswer(found.template, found.letter));
    },
  }),
  route({
    method: "GET",
    path: "/templates/:name/versions/:version",
    describes: {
      operation: "readTemplateVersion",
      summary: "One version of a template, with its letter.",
      answers: { 200: { is: "The version.", json: templateVersion } },
      needs: ["log"],
      problems: ["template-not-found"],
    },
    handle: async (request) => {
      const number = request.part("version");
      const found = /^[1-9]\d{0,5}$/.test(number) ? await find(dependencies, request, Number(number)) : null;
      if (found === null) return templateNotFound();
      return json(toVersionAnswer(found.template.name, found.version, found.letter));
    },
  }),
  route({
    method: "POST",
    path: "/templates/:name/preview",
    describes: {
      operation: "previewTemplate",
      summary: "Fill in a template with the variables of one recipient. Nothing is stored and nothing is sent.",
      body: optional(previewRequest),
      answers: { 200: { is: "The mail to that recipient.", json: templatePreview } },
      needs: ["log"],
      problems: ["template-not-found"],
    },
    takesBody: true,
    scope: "jobs:read",
    handle: (request) => answerToPreview(dependencies, request),
  }),
  route({
    method: "DELETE",
    path: "/templates/:name",
    describes: {
      operation: "archiveTemplate",
      summary: "Archive a template: new requests cannot name it. Jobs that were accepted keep its words.",
      answers: { 200: { is: "The template as it was archived.", json: templateSchema } },
      needs: ["log-writes"],
      problems: ["template-not-found"],
    },
    handle: async (request) => {
      const found = await find(dependencies, request, null);
      if (found === null) return templateNotFound();
      const { templates, now } = request.inTime(dependencies);
      const { name } = found.template;
      const archived = await templates.archive({ tenant: request.context.tenant, name }, now());
      return json(toTemplateAnswer(archived ?? found.template, found.letter));
    },
  }),
];

type Found = {
  readonly template: Template;
  readonly version: TemplateVersion;
  readonly letter: Readonly<Record<string, unknown>>;
};

/** A version of the template that the path names, the latest for null. */
async function find(
  dependencies: Dependencies,
  { context: { tenant }, part, inTime }: ApiRequest,
  number: number | null,
): Promise<Found | null> {
  const name = part("name");
  if (!isTemplateName(name)) return null;
  const { templates } = inTime(dependencies);
  const template = await templates.find({ tenant, name });
  const version = template === null ? undefined : findVersion(template, number);
  if (template === null || version === undefined) return null;
  return { template, version, letter: await readLetter(templates, tenant, template, version) };
}

const templateNotFound = (): Answer =>
  refuse("template-not-found", "There is no template with this name, or no such version of it.");

async function answerToPut(dependencies: Dependencies, request: ApiRequest): Promise<Answer> {
  const { context, body, part, inTime } = request;
  const name = part("name");
  if (body === undefined) return refuse("invalid-json", "The body is missing; expected a JSON object.");
  if (!isTemplateName(name)) {
    const message = `the name in the path is ${shown(name)}; expected ${expectedTemplateName}`;
    return refuseFaults([{ pointer: "name", message }]);
  }
  const { templates, contentStore, now } = inTime(dependencies);
  const at = now();
  const ref = { tenant: context.tenant, name };
  const put = await putTemplate({ templates, contentStore }, ref, body, rulesOf(dependencies, request.context), at);
  if (put.outcome === "refused") return refuseCreation(put.refusal, at);
  if (put.outcome === "full") {
    return refuse("too-many-template-versions", `The template has ${maxVersions} versions, which is the most.`);
  }
  const { isNew, version, template } = put.stored;
  const answer: AnswerOf<typeof storedTemplate> = { name, ...version, latest: template.versions.length };
  return json(answer, {}, isNew ? 201 : 200);
}

async function answerToPreview(dependencies: Dependencies, request: ApiRequest): Promise<Answer> {
  const asked = checkPreviewRequest(request.body ?? {});
  if (!asked.valid) return refuseFaults(asked.faults);
  const { version = null, email = "ada@example.com", variables = {} } = asked.value;
  const found = await find(dependencies, request, version);
  if (found === null) return templateNotFound();
  const at = dependencies.now();
  const asShown = { tenant: request.context.tenant, letter: found.letter, email, variables };
  const previewed = await previewTemplate(dependencies, asShown, rulesOf(dependencies, request.context), at);
  if (previewed.outcome === "refused") return refuseCreation(previewed.refusal, at);
  const result = previewed.shown as AnswerOf<typeof dryRunResult>;
  const { subject, html, text } = result.mail;
  const { name } = found.template;
  const { warnings } = result;
  const answer: AnswerOf<typeof templatePreview> = {
    name,
    version: found.version.version,
    subject,
    html,
    text,
    warnings,
  };
  return json(answer);
}
