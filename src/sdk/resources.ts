import { type Lines, toGatheredBody } from "./recipient-lines.ts";
import { type Requests, settled } from "./requests.ts";
import type {
  AnswerTo,
  BodyOf,
  CallOptions,
  CreateOptions,
  DeadLetter,
  Firing,
  LedgerEntry,
  Notification,
  QueryOf,
  Reason,
  Schedule,
  ScheduleRequest,
  Suppression,
  Template,
  TemplateRequest,
  TemplateSummary,
  WebhookDelivery,
  WebhookEndpoint,
} from "./types.ts";

const schedule = "/api/schedules/{scheduleId}";
const template = "/api/templates/{name}";
const letter = "/api/dead-letters/{id}";
const endpoint = "/api/webhook-endpoints/{id}";

export const createSchedules = ({ request, pages }: Requests) => ({
  create: (
    body: ScheduleRequest,
    { signal, idempotencyKey = crypto.randomUUID() }: CreateOptions = {},
  ): Promise<Schedule> => request("post", "/api/schedules", { body, idempotencyKey, signal }),
  get: (scheduleId: string, options: CallOptions = {}): Promise<Schedule> =>
    request("get", schedule, { params: { scheduleId }, ...options }),
  list: (options: CallOptions = {}) =>
    pages<"/api/schedules", AnswerTo<"/api/schedules", "get">["data"][number]>("/api/schedules", {}, options),
  /** Replaces all of it; its next times are counted from now. */
  replace: (scheduleId: string, body: ScheduleRequest, options: CallOptions = {}): Promise<Schedule> =>
    request("put", schedule, { params: { scheduleId }, body, ...options }),
  pause: (scheduleId: string, { signal, ...body }: Reason = {}): Promise<Schedule> =>
    request("post", `${schedule}/pause`, { params: { scheduleId }, body, isRepeatable: true, signal }),
  resume: (scheduleId: string, { signal, ...body }: Reason = {}): Promise<Schedule> =>
    settled(
      request("post", `${schedule}/resume`, { params: { scheduleId }, body, isRepeatable: true, signal }),
      ({ code }) => code === "schedule-not-paused",
      () => request("get", schedule, { params: { scheduleId }, signal }),
    ),
  delete: (scheduleId: string, { signal, ...body }: Reason = {}): Promise<Schedule> =>
    request("delete", schedule, { params: { scheduleId }, body, signal }),
  /** What became of its times. */
  firings: (scheduleId: string, options: CallOptions = {}): AsyncGenerator<Firing> =>
    pages(`${schedule}/firings`, {}, { params: { scheduleId }, ...options }),
});

export const createTemplates = ({ request, pages }: Requests) => ({
  /** Stores a letter as the next version; one that the template has keeps its version. */
  put: (name: string, body: TemplateRequest, options: CallOptions = {}): Promise<AnswerTo<typeof template, "put">> =>
    request("put", template, { params: { name }, body, ...options }),
  get: (name: string, options: CallOptions = {}): Promise<Template> =>
    request("get", template, { params: { name }, ...options }),
  getVersion: (name: string, version: number, options: CallOptions = {}) =>
    request("get", `${template}/versions/{version}`, { params: { name, version: String(version) }, ...options }),
  list: (options: CallOptions = {}): AsyncGenerator<TemplateSummary> => pages("/api/templates", {}, options),
  preview: (
    name: string,
    body: BodyOf<`${typeof template}/preview`, "post"> = {},
    options: CallOptions = {},
  ): Promise<AnswerTo<`${typeof template}/preview`, "post">> =>
    request("post", `${template}/preview`, { params: { name }, body, isRepeatable: true, ...options }),
  archive: (name: string, options: CallOptions = {}): Promise<Template> =>
    request("delete", template, { params: { name }, ...options }),
});

export const createSuppressions = ({ request, pages, transport }: Requests) => ({
  list: (
    query: Pick<QueryOf<"/api/suppressions", "get">, "email"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<Suppression> => pages("/api/suppressions", query, options),
  add: (body: BodyOf<"/api/suppressions", "post">, options: CallOptions = {}): Promise<Suppression> =>
    request("post", "/api/suppressions", { body, isRepeatable: true, ...options }),
  /** Adds up to 50,000 addresses, all or none. */
  import: async (
    lines: Lines<BodyOf<"/api/suppressions", "post">>,
    { signal }: CallOptions = {},
  ): Promise<AnswerTo<"/api/suppressions/import", "post">> => {
    const headers = { "Content-Type": "application/x-ndjson" };
    const asked = { method: "POST", path: "/api/suppressions/import", headers, timeoutMs: null, signal };
    const sent = { ...asked, ...(await toGatheredBody(lines)), isRepeatable: true };
    return (await transport.send(sent)).body as AnswerTo<"/api/suppressions/import", "post">;
  },
  remove: async (email: string, options: CallOptions = {}): Promise<void> => {
    await settled(
      request("delete", "/api/suppressions/{email}", { params: { email }, ...options }),
      ({ code }) => code === "suppression-not-found",
      async () => undefined,
    );
  },
});

export const createRecipients = ({ request, open, pages }: Requests) => ({
  /** Everything that was sent, or failed to be sent, to an address. */
  history: (email: string, options: CallOptions = {}): AsyncGenerator<LedgerEntry> =>
    pages("/api/recipients", { email }, options),
  /** All that is known of an address, as NDJSON. */
  export: (email: string, options: CallOptions = {}): Promise<Response> =>
    open("get", "/api/recipients/export", { query: { email }, ...options }),
  /** Erases an address everywhere; jobs that have not ended are named in the refusal. */
  erase: (body: BodyOf<"/api/recipients/erase", "post">, options: CallOptions = {}) =>
    request("post", "/api/recipients/erase", { body, isRepeatable: true, ...options }),
});

export const createDeadLetters = ({ request, pages }: Requests) => ({
  list: (
    query: Pick<QueryOf<"/api/dead-letters", "get">, "status"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<DeadLetter> => pages("/api/dead-letters", query, options),
  /** Runs what it holds again, as a new job. Not repeated after a lost answer. */
  requeue: (id: string, { signal, ...body }: Reason = {}) =>
    request("post", `${letter}/requeue`, { params: { id }, body, signal }),
  ignore: (id: string, reason: string, { signal }: CallOptions = {}): Promise<DeadLetter> =>
    request("post", `${letter}/ignore`, { params: { id }, body: { reason }, isRepeatable: true, signal }),
});

export const createWebhookEndpoints = ({ request, pages }: Requests) => ({
  list: async (options: CallOptions = {}): Promise<readonly WebhookEndpoint[]> =>
    (await request("get", "/api/webhook-endpoints", options)).data,
  /** The answer alone shows the secret. Not repeated after a lost answer, which would make a second endpoint. */
  create: (body: BodyOf<"/api/webhook-endpoints", "post">, options: CallOptions = {}) =>
    request("post", "/api/webhook-endpoints", { body, ...options }),
  delete: async (id: string, options: CallOptions = {}): Promise<void> => {
    await settled<unknown>(
      request("delete", endpoint, { params: { id }, ...options }),
      ({ code }) => code === "webhook-endpoint-not-found",
      async () => undefined,
    );
  },
  /** The answer alone shows the new secret. Not repeated after a lost answer. */
  rotate: (id: string, options: CallOptions = {}) =>
    request("post", `${endpoint}/rotate`, { params: { id }, ...options }),
  test: (id: string, options: CallOptions = {}) =>
    request("post", `${endpoint}/test`, { params: { id }, isRepeatable: true, ...options }),
  deliveries: (id: string, options: CallOptions = {}): AsyncGenerator<WebhookDelivery> =>
    pages(`${endpoint}/deliveries`, {}, { params: { id }, ...options }),
  redeliver: (id: string, deliveryId: string, options: CallOptions = {}): Promise<WebhookDelivery> =>
    request("post", `${endpoint}/deliveries/{deliveryId}/redeliver`, { params: { id, deliveryId }, ...options }),
});

export const createNotifications = ({ request, pages }: Requests) => ({
  list: (
    query: Pick<QueryOf<"/api/notifications", "get">, "unread"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<Notification> => pages("/api/notifications", query, options),
  markRead: (id: string, options: CallOptions = {}) =>
    request("post", "/api/notifications/{id}/read", { params: { id }, isRepeatable: true, ...options }),
  /** Marks all that there are now. */
  markAllRead: async (options: CallOptions = {}): Promise<void> => {
    for (let hasMore = true; hasMore; ) {
      ({ hasMore } = await request("post", "/api/notifications/read", { isRepeatable: true, ...options }));
    }
  },
});
