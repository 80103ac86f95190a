import type { MailingListOptions } from "../../../projections/jobs/mailings/queries.ts";
import { canBeToldApart } from "../../domain/mailing/approval.ts";
import type { MailingRecord } from "../../domain/mailing/mailing-record.ts";
import { Unavailable } from "../../domain/unavailable.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { newId } from "../../event-log/new-id.ts";
import { mailingFromLog } from "../../history/mailing-from-log.ts";
import { maxRequestBytes } from "../../intake/check-request.ts";
import { mailingIdOfKey } from "../../intake/derived-job-id.ts";
import { draftJob, refuseDraft } from "../../intake/draft-job.ts";
import { checkWithTemplate, noEarlierTemplate, templateOfMailing } from "../../intake/use-template.ts";
import { createMailing, findMailingOf, type MailingCreation, toMailingDraft } from "../../mailings/create-mailing.ts";
import { checkMailingRequest, mailingCreation } from "../../mailings/mailing-request.ts";
import { toLoggable } from "../../process/logger.ts";
import { faultsIn } from "../../schemas/fault.ts";
import {
  createdMailing,
  mailingPage,
  mailingPath,
  mailing as mailingSchema,
  toMailingAnswer,
} from "../answers/mailing.ts";
import type { AnswerOf } from "../answers/parts.ts";
import {
  type Answer,
  json,
  mailingNotFound,
  refuse,
  refuseFaults,
  refuseForNoRoom,
  refuseMailing,
} from "../server/answer.ts";
import { type Parameters, whole } from "../server/query.ts";
import { toCause, toJobRef } from "../server/request-context.ts";
import { type ApiRequest, needed, type Route, route } from "../server/route.ts";
import { askIncluding, askReadModel, awaitMinSequence, readSequenceHeader, refuseBehind } from "./ask-read-model.ts";
import { readIdempotencyKey, refuseCreation } from "./create-job.ts";
import { type RouteDependencies, rulesOf } from "./route-dependencies.ts";

type ListQuery = Omit<MailingListOptions, "page"> & { readonly page: number | null };

const parameters: Parameters<ListQuery> = {
  page: whole(null, 1, 1_000_000),
  pageSize: whole(20, 1, 100),
  cursor: whole(null, 1, Number.MAX_SAFE_INTEGER),
};

/** Mailings: drafts that recipients are added to, and that are then mailed in parts, each of them a job. */
export const mailingRoutes = (dependencies: RouteDependencies): readonly Route[] => [
  route({
    method: "POST",
    path: "/mailings",
    describes: {
      operation: "createMailing",
      summary: "Create the draft of a mailing, with its letter; its recipients are added next.",
      body: needed(mailingCreation),
      headers: ["Idempotency-Key"],
      answers: {
        201: {
          is: "The draft is stored in the log.",
          json: createdMailing,
          headers: ["Location", "Event-Sequence", "Idempotency-Replayed"],
        },
      },
      needs: ["log-writes"],
      problems: ["content-too-large", "idempotency-key-reused", "approval-needs-keys"],
    },
    takesBody: true,
    maxBodyBytes: maxRequestBytes,
    handle: (request) => create(dependencies, request),
  }),
  route({
    method: "GET",
    path: "/mailings/:mailingId",
    describes: {
      operation: "readMailing",
      summary: "One mailing with its progress over all parts.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "The mailing.", json: mailingSchema, headers: ["Read-Sequence"] } },
      needs: ["log", "read-model"],
      problems: ["mailing-not-found", "read-model-behind"],
    },
    handle: (request) => read(dependencies, request),
  }),
  route<ListQuery>({
    method: "GET",
    path: "/mailings",
    describes: {
      operation: "listMailings",
      summary: "The tenant's mailings, the newest first, including what this process decided a moment ago.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "A page of them.", json: mailingPage, headers: ["Read-Sequence"] } },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    query: parameters,
    handle: (request) => list(dependencies, request),
  }),
];

async function create(dependencies: RouteDependencies, request: ApiRequest): Promise<Answer> {
  const { maxAttempts, now, ownWrites } = dependencies;
  const { context, base, body, header } = request;
  if (body === undefined) return refuse("invalid-json", "The body is missing; expected a JSON object.");
  const { tenant } = context;
  const key = readIdempotencyKey(header("Idempotency-Key"));
  const rules = rulesOf(dependencies, context);
  const isRepeatable = key.valid && key.value !== null;
  const job = { tenant, jobId: isRepeatable ? mailingIdOfKey(tenant, key.value) : newId() };
  const { log, room, contentStore, templates } = request.inTime(dependencies);
  const checked = await checkWithTemplate(body, {
    templates,
    tenant,
    earlier: isRepeatable ? templateOfMailing({ log, contentStore }, job) : noEarlierTemplate,
    check: (filled) => checkMailingRequest(filled, rules),
  });
  if (!key.valid || !checked.valid) {
    // The rules around a request may be others by now than when it was accepted.
    const earlier = isRepeatable ? await findMailingOf(log, job, body) : null;
    return earlier === null ? refuseFaults(faultsIn(key, checked)) : toCreated(base, earlier);
  }
  if (checked.value.request.approval === "required" && !canBeToldApart(context.actor)) {
    return refuseMailing({ code: "approval-needs-keys" });
  }
  const at = now();
  const drafted = draftJob({ job, isRepeatable, body, ...checked.value, maxAttempts, at });
  const refusal = await refuseDraft(drafted, checked.value.request, contentStore.maxBytes);
  if (refusal !== null) return refuseCreation(refusal, at);
  if (!(await room.isLeftForJobs())) {
    const earlier = isRepeatable ? await findMailingOf(log, job, body) : null;
    return earlier === null ? refuseForNoRoom() : toCreated(base, earlier);
  }
  const draft = toMailingDraft(drafted, checked.value.request);
  const creation = await createMailing(log, contentStore, draft, toCause(context), at);
  if (creation.outcome === "rejected") return refuseMailing(creation.rejection);
  ownWrites.remember(creation.mailing, creation.sequence);
  return toCreated(base, creation);
}

function toCreated(
  base: string,
  { mailing: { jobId }, createdAt, template, isRepeat, sequence }: Extract<MailingCreation, { outcome: "accepted" }>,
): Answer {
  const headers = { Location: mailingPath(base, jobId), "Event-Sequence": String(sequence) };
  const body: AnswerOf<typeof createdMailing> = {
    mailingId: jobId,
    status: "draft",
    createdAt,
    ...(template === null ? {} : { template }),
  };
  return json(body, { ...headers, ...(isRepeat ? { "Idempotency-Replayed": "true" } : {}) }, 201);
}

async function read(dependencies: RouteDependencies, request: ApiRequest): Promise<Answer> {
  const ref = toJobRef(request.context, request.part("mailingId"));
  if (ref === null) return mailingNotFound();
  const behind = await awaitMinSequence(dependencies.readPosition, "jobs", request.minSequence);
  if (behind !== null) return behind;
  const found = await findMailing(dependencies, () => request.inTime(dependencies), ref);
  if (found === null) return mailingNotFound();
  return json(toMailingAnswer(found.mailing, request.base), readSequenceHeader(found.sequence));
}

type Found = { readonly mailing: MailingRecord; readonly sequence: number };

/** From the read model, or from the log where this process has decided or shown more: as for a job. */
async function findMailing(
  { ownWrites, mailings, logger }: RouteDependencies,
  inTime: () => Pick<RouteDependencies, "log" | "contentStore">,
  ref: JobRef,
): Promise<Found | null> {
  const projected = await askReadModel(() => mailings.find(ref)).catch((failure: unknown) => {
    logger.warn({ failure: toLoggable(failure) }, "read model unavailable; folding the mailing from the log");
    return { mailing: null, readSequence: 0 };
  });
  const { mailing, readSequence } = projected;
  const known = ownWrites.ofJob(ref);
  if (mailing !== null && readSequence >= known) return { mailing, sequence: readSequence };
  const { log, contentStore } = inTime();
  try {
    const found = await mailingFromLog(log, contentStore, ref, mailing === null ? undefined : known);
    if (found !== null) ownWrites.show(ref, found.sequence);
    return found;
  } catch (failure) {
    // Not the latest state, but a true one.
    if (failure instanceof Unavailable && mailing !== null) return { mailing, sequence: readSequence };
    throw failure;
  }
}

async function list(
  { mailings, readPosition, ownWrites }: RouteDependencies,
  { context, base, query, minSequence }: ApiRequest<ListQuery>,
): Promise<Answer> {
  const { page, pageSize, cursor } = query;
  if (cursor !== null && page !== null) {
    return refuseFaults([{ pointer: "?page", message: "page is given beside cursor; expected one of them" }]);
  }
  const wanted = Math.max(minSequence, ownWrites.ofTenant(context.tenant));
  const options = { page: page ?? 1, pageSize, cursor };
  const found = await askIncluding(readPosition, "jobs", wanted, () => mailings.list(context.tenant, options));
  if (found.readSequence < minSequence) return refuseBehind(minSequence);
  const { total, nextCursor } = found;
  const totalPages = Math.ceil(total / pageSize);
  const pagination = { page: cursor === null ? options.page : null, pageSize, total, totalPages, nextCursor };
  const data = found.mailings.map((one) => toMailingAnswer(one, base));
  const body: AnswerOf<typeof mailingPage> = { data, pagination };
  return json(body, readSequenceHeader(found.readSequence));
}
