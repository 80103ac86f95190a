import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "./eventually.ts";
import { expectDescribed } from "./running-api.ts";

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/**
 * What a client of the API sees, with nothing of the service's own types. It asks again, as clients are to, where a busy
 * machine could not answer in time; not with `post`, as the same again may be something else.
 */
export type ApiClient = {
  post(path: string, body?: unknown): Promise<Answer>;
  put(path: string, body: unknown): Promise<Answer>;
  patch(path: string, body: unknown): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  delete(path: string, body?: unknown): Promise<Answer>;
  /** Creates a job that must be accepted; answers its id. */
  create(mailing: object): Promise<string>;
  /** The same of a mailing in parts, and of a schedule. */
  createMailing(mailing: object): Promise<string>;
  createSchedule(schedule: object): Promise<string>;
  /** The job once it has ended. */
  ended(jobId: string, withinMs?: number): Promise<JobAnswer>;
};

export type JobAnswer = {
  readonly id: string;
  readonly status: string;
  readonly attempt: number;
  readonly progress: Readonly<
    Record<"total" | "sent" | "failed" | "pending" | "deferred" | "unknown" | "suppressed", number>
  >;
  readonly completedAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

/** What passes by itself on a machine that is busy. */
const passing: readonly unknown[] = ["event-log-unavailable", "read-model-behind"];

export function createApiClient(url: string): ApiClient {
  const ask = async (method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Answer> => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const contentType: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
    const response = await fetch(url + path, { method, headers: { ...contentType, ...headers }, ...init });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
    expectDescribed(method, url + path, answer);
    return answer;
  };
  const askAgain = async (...asked: Parameters<typeof ask>): Promise<Answer> => {
    const deadline = Date.now() + 30_000;
    for (;;) {
      const answer = await ask(...asked);
      const { code } = (answer.body ?? {}) as { readonly code?: unknown };
      if (!passing.includes(code) || Date.now() > deadline) return answer;
      await pause(200);
    }
  };
  const get = (path: string, headers: Record<string, string> = {}) => askAgain("GET", path, undefined, headers);
  const post = (path: string, body?: unknown) => ask("POST", path, body, {});
  const create = async <Id extends string>(path: string, request: object): Promise<Record<Id, string>> => {
    const { status, body } = await askAgain("POST", path, request, { "Idempotency-Key": randomUUID() });
    if (status !== 201) throw new Error(`POST ${path} was answered ${status}: ${JSON.stringify(body)}`);
    return body as Record<Id, string>;
  };
  return {
    get,
    post,
    put: (path, body) => ask("PUT", path, body, {}),
    patch: (path, body) => ask("PATCH", path, body, {}),
    delete: (path, body) => askAgain("DELETE", path, body, {}),
    create: async (mailing) => (await create<"jobId">("/api/jobs", mailing)).jobId,
    createMailing: async (mailing) => (await create<"mailingId">("/api/mailings", mailing)).mailingId,
    createSchedule: async (schedule) => (await create<"id">("/api/schedules", schedule)).id,
    ended: (jobId, withinMs = 40_000) =>
      eventually(async () => {
        const { body } = await get(`/api/jobs/${jobId}`);
        const job = body as JobAnswer;
        if (typeof job.completedAt !== "string") throw new Error(`The job goes on: ${JSON.stringify(body)}`);
        return job;
      }, withinMs),
  };
}
