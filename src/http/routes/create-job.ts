import type { Instant } from "../../domain/message.ts";
import { newId } from "../../event-log/new-id.ts";
import { type Accepted, findAccepted, toCreatedJob } from "../../intake/accept-job.ts";
import { checkRequest, jobCreation, maxRequestBytes, type Refusal, refuseTooMany } from "../../intake/check-request.ts";
import { createJob } from "../../intake/create-job.ts";
import { jobIdOfKey } from "../../intake/derived-job-id.ts";
import { digestOfRequest, draftJob, refuseDraft } from "../../intake/draft-job.ts";
import { problemOfRefusal } from "../../intake/problem-of.ts";
import { checkWithTemplate, noEarlierTemplate, templateOfJob } from "../../intake/use-template.ts";
import { kindOf } from "../../job-kinds/all-job-kinds.ts";
import { type Checked, failed, faultsIn, passed, shown } from "../../schemas/fault.ts";
import { type CreatedAnswer, createdJob, dryRunResult, jobPath } from "../answers/job.ts";
import { type Answer, answerProblem, json, refuse, refuseFaults, refuseForNoRoom } from "../server/answer.ts";
import { toCause } from "../server/request-context.ts";
import { needed, route } from "../server/route.ts";
import { holdAnswer } from "../streaming/hold-answer.ts";
import { type RouteDependencies, rulesOf } from "./route-dependencies.ts";

/** POST /jobs: checks the whole request, stores the content, then the event; sending begins after the answer. */
export const createJobRoute = ({
  log,
  room,
  quota,
  contentStore,
  templates,
  live,
  ownWrites,
  webhooks,
  logger,
  maxAttempts,
  mail,
  routesFor,
  now,
}: RouteDependencies) =>
  route({
    method: "POST",
    path: "/jobs",
    describes: {
      operation: "createJob",
      summary: "Create a job; sending begins after the answer.",
      body: needed(jobCreation),
      headers: ["Idempotency-Key", "Prefer"],
      answers: {
        200: { is: "With `dryRun`: the first mail as it would be sent. Nothing is stored.", json: dryRunResult },
        201: {
          is: "The job is accepted: it is stored in the log.",
          json: createdJob,
          headers: ["Location", "Event-Sequence", "Idempotency-Replayed", "Preference-Applied"],
        },
      },
      needs: ["log-writes"],
      problems: ["too-many-recipients", "content-too-large", "quota-exceeded", "idempotency-key-reused"],
    },
    takesBody: true,
    maxBodyBytes: maxRequestBytes,
    handle: async (asked) => {
      const { context, base, body, header } = asked;
      const at = now();
      if (body === undefined) return refuse("invalid-json", "The body is missing; expected a JSON object.");
      const tooMany = refuseTooMany(body);
      if (tooMany !== null) return refuseCreation(tooMany, at);
      const { tenant, limits } = context;
      const key = readIdempotencyKey(header("Idempotency-Key"));
      const rules = rulesOf({ webhooks, mail, routesFor }, context);
      const isRepeatable = key.valid && key.value !== null;
      const job = { tenant, jobId: isRepeatable ? jobIdOfKey(tenant, key.value) : newId() };
      const ports = asked.inTime({ log, room, quota, contentStore, templates });
      const checked = await checkWithTemplate(body, {
        templates: ports.templates,
        tenant,
        earlier: isRepeatable ? templateOfJob(ports, job) : noEarlierTemplate,
        check: (filled) => checkRequest(filled, rules),
      });
      if (!key.valid || !checked.valid) {
        // The rules around a request may be others by now than when it was accepted.
        const earlier = isRepeatable ? await findAccepted(ports.log, job) : null;
        if (earlier?.created.data.requestSha256 === digestOfRequest(body)) return toCreatedAnswer(base, earlier);
        return refuseFaults(faultsIn(key, checked));
      }

      const { request, template } = checked.value;
      const draft = draftJob({ job, isRepeatable, body, request, template, maxAttempts, at });
      const refusal = await refuseDraft(draft, request, contentStore.maxBytes);
      if (refusal !== null) return refuseCreation(refusal, at);
      const { dryRun } = kindOf(draft.settings.type);
      if (request.dryRun && dryRun !== undefined) return json(await dryRun(draft, { mail }, at));
      const order = { limits, cause: toCause(context), at };
      const creation = await createJob(ports, draft, order);
      if (creation.outcome === "refused") return refuseCreation(creation.refusal, at);
      ownWrites.remember(creation.job, creation.sequence);
      const created = toCreatedAnswer(base, creation);
      return holdAnswer({ live, ownWrites, logger }, asked, creation.job, created);
    },
  });

/** Why a job was not created, with `Retry-After` where a retry can succeed. */
export function refuseCreation(refusal: Refusal, at: Instant): Answer {
  if (refusal.code === "event-log-full") return refuseForNoRoom();
  return answerProblem(problemOfRefusal(refusal), refusal.code === "quota-exceeded" ? quotaHeaders(refusal, at) : {});
}

function quotaHeaders(
  { limit, left, resetsAt }: Extract<Refusal, { code: "quota-exceeded" }>,
  at: Instant,
): Readonly<Record<string, string>> {
  const seconds = Math.ceil((Date.parse(resetsAt) - Date.parse(at)) / 1000);
  return {
    "Retry-After": String(seconds),
    "RateLimit-Policy": `"recipients";q=${limit};qu="recipients";w=86400`,
    RateLimit: `"recipients";r=${left};t=${seconds}`,
  };
}

/** The same for the first request and for every repetition of it, whatever has happened to the job since. */
export function toCreatedAnswer(base: string, { job: { jobId }, created, isRepeat, sequence }: Accepted): Answer {
  const headers = { Location: jobPath(base, jobId), "Event-Sequence": String(sequence) };
  const replayed = isRepeat ? { "Idempotency-Replayed": "true" } : {};
  const { duplicates } = created.data;
  const body: CreatedAnswer = { ...toCreatedJob(jobId, created), duplicates };
  return json(body, { ...headers, ...replayed }, 201);
}

/** The key as it was sent, or in quotes as the draft standard writes it. Null where the header is absent. */
export function readIdempotencyKey(header: string | null): Checked<string | null> {
  if (header === null) return passed(null);
  const key = /^".*"$/.test(header) ? header.slice(1, -1) : header;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return passed(key);
  const message = `Idempotency-Key is ${shown(header)}; expected 1 to 255 visible characters`;
  return failed([{ pointer: "Idempotency-Key", message }]);
}
