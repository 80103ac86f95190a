import Router from "@koa/router";
import Koa, { type Context } from "koa";
import { v7 as newId } from "uuid";
import { defaultJobType } from "../../../../src/domain/job/events.ts";
import { jobStatuses } from "../../../../src/domain/job/job-view.ts";
import { defaultTenant } from "../../../../src/domain/tenant.ts";
import { toJobAnswer } from "../../../../src/http/answers/job.ts";
import { type Answer, answerProblem, json, refuse, refuseFaults } from "../../../../src/http/server/answer.ts";
import { createBodyBudget } from "../../../../src/http/server/body-budget.ts";
import { optionalText, readQuery, someOf, whole } from "../../../../src/http/server/query.ts";
import { readBody } from "../../../../src/http/server/read-body.ts";
import { maxRequestBytes, refuseTooMany } from "../../../../src/intake/check-request.ts";
import { jobIdOfKey } from "../../../../src/intake/derived-job-id.ts";
import { digestOfRequest } from "../../../../src/intake/draft-job.ts";
import { problemOfRefusal } from "../../../../src/intake/problem-of.ts";
import { emailSend } from "../../../../src/job-kinds/email/email-send.ts";
import type { JobRequest } from "../../../../src/schemas/job-request.ts";
import { createRequestReader } from "../../../../src/schemas/read-job-request.ts";
import type { Accepted, NewJob } from "./accept-jobs.ts";
import type { Reads } from "./read-jobs.ts";

const base = "/api";
const readMailing = createRequestReader([emailSend], defaultJobType);
const pages = { page: whole(1, 1, 1_000_000), pageSize: whole(20, 1, 100) };
const lists = { status: someOf(jobStatuses), pageSize: pages.pageSize, cursor: optionalText(100) };

/**
 * The routes for jobs as Waybill has them, made of the same parts: what is asked is read and checked by the
 * same compiled schema, stored and queued, then answered with 201; questions are answered from the rows.
 */
export function createApp(accept: (job: NewJob) => Promise<Accepted>, reads: Reads): Koa {
  const bodies = createBodyBudget(512 * 1024 * 1024);
  const router = new Router({ prefix: `${base}/jobs`, sensitive: true });
  router.post("/", async (ctx) => {
    const account = bodies.open(defaultTenant);
    try {
      const body = await readBody(ctx, account, maxRequestBytes);
      send(ctx, body.read ? await create(body.value, ctx.get("Idempotency-Key"), accept) : body.answer);
    } finally {
      account.close();
    }
  });
  router.get("/", async (ctx) => {
    const query = readQuery(lists, new URLSearchParams(ctx.querystring));
    if (!query.valid) return send(ctx, refuseFaults(query.faults));
    const jobs = await reads.list(query.value);
    const last = jobs.length < query.value.pageSize ? undefined : jobs.at(-1);
    const nextCursor = last === undefined ? null : `${last.createdAt},${last.id}`;
    send(ctx, json({ data: jobs.map((job) => toJobAnswer(job, base)), pagination: { nextCursor } }));
  });
  router.get("/:jobId", async (ctx) => {
    const job = await reads.find(ctx.params["jobId"] ?? "");
    send(ctx, job === null ? refuse("job-not-found", "There is no job with this id.") : json(toJobAnswer(job, base)));
  });
  router.get("/:jobId/recipients", async (ctx) => {
    const query = readQuery(pages, new URLSearchParams(ctx.querystring));
    if (!query.valid) return send(ctx, refuseFaults(query.faults));
    send(ctx, json({ data: await reads.recipients(ctx.params["jobId"] ?? "", query.value) }));
  });
  const app = new Koa();
  app.use(router.routes() as Koa.Middleware);
  return app;
}

async function create(body: unknown, key: string, accept: (job: NewJob) => Promise<Accepted>): Promise<Answer> {
  const tooMany = refuseTooMany(body);
  if (tooMany !== null) return answerProblem(problemOfRefusal(tooMany));
  const request = readMailing(body);
  if (!request.valid) return refuseFaults(request.faults);
  const job = toJob(request.value, body, key === "" ? null : key);
  const { outcome, createdAt, duplicates } = await accept(job);
  if (outcome === "reused") return refuse("idempotency-key-reused", "The key was used for another request.");
  const answer = { jobId: job.id, status: "pending", createdAt: createdAt.toISOString(), duplicates };
  return json(answer, { Location: `${base}/jobs/${job.id}` }, 201);
}

function toJob(request: JobRequest, body: unknown, key: string | null): NewJob {
  const { subject, text, html } = emailSend.toContent(request);
  const asked = (request.recipients ?? []).map(addressOf);
  const recipients = [
    ...new Map(asked.toReversed().map((email) => [email.toLowerCase(), email])).values(),
  ].toReversed();
  return {
    id: key === null ? newId() : jobIdOfKey(defaultTenant, key),
    requestSha256: key === null ? null : digestOfRequest(body),
    priority: request.priority ?? "normal",
    name: request.name ?? null,
    metadata: request.metadata ?? {},
    duplicates: asked.length - recipients.length,
    createdAt: new Date(),
    mailing: { subject: subject ?? "", text: text ?? null, html: html ?? null, recipients },
  };
}

const addressOf = (recipient: string | { readonly [field: string]: unknown }): string =>
  typeof recipient === "string" ? recipient : String(recipient["email"]);

function send(ctx: Context, { status, type, headers, body }: Answer): void {
  ctx.status = status;
  ctx.set({ ...headers, "Content-Type": type });
  ctx.body = JSON.stringify(body);
}
