import type Koa from "koa";
import { type Logger, pino } from "pino";
import type { Access } from "../../src/access/access.ts";
import type { ContentStore } from "../../src/content/content-store.ts";
import { createMemoryContentStore } from "../../src/content/memory-content-store.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { createMemoryEventLog } from "../../src/event-log/memory-event-log.ts";
import { type ApiDependencies, createApi } from "../../src/http/api.ts";
import { listen } from "../../src/http/listen.ts";
import { createLive } from "../../src/live/live.ts";
import { createMemoryWebhookStore } from "../../src/webhooks/memory-webhook-store.ts";
import { now } from "./examples.ts";

// biome-ignore lint/suspicious/noExplicitAny: the tests look into answers whose shape is what they test.
type Json = any;

export type Answered = { readonly status: number; readonly headers: Headers; readonly body: Json };

type Request = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };

/** The real application on a real port. */
export type RunningApi = {
  readonly url: string;
  readonly app: Koa;
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  /** What the process logged, one JSON line each. */
  readonly logged: readonly string[];
  ask(method: string, path: string, request?: Request): Promise<Answered>;
  /** The content that was stored, in order. */
  readonly stored: readonly Uint8Array[];
  close(): Promise<void>;
};

const noReadModel = async (): Promise<never> => {
  throw Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
};

/** Nobody is asked for a key. */
const openAccess: Access = {
  isStillAdmitted: () => true,
  admit: () => {
    const limits = { senders: null, dailyRecipients: null };
    return { outcome: "admitted", caller: { tenant: "default", actor: "anonymous", limits }, rate: null };
  },
};

/** The application without a port. Without a database unless one is given: whatever does not need one has to work. */
export function createTestApi(given: Partial<ApiDependencies> = {}) {
  const logged: string[] = [];
  const stored: Uint8Array[] = [];
  const log = given.log ?? createMemoryEventLog();
  const contentStore = watched(given.contentStore ?? createMemoryContentStore(), stored);
  const live = given.live ?? createLive(log, contentStore, () => {});
  const app = createApi({
    jobs: { find: noReadModel, list: noReadModel },
    logs: { list: noReadModel },
    deadLetters: { list: noReadModel },
    webhooks: {
      store: createMemoryWebhookStore(),
      deliveries: { list: noReadModel, find: noReadModel },
      post: async () => ({ kind: "answered", statusCode: 204, retryAfterMs: null }),
      allowed: [],
    },
    stats: { read: noReadModel },
    projectionLags: noReadModel,
    readPosition: { waitFor: async () => false },
    room: { isLeftForJobs: async () => true },
    access: openAccess,
    quota: { take: async () => ({ granted: true }) },
    probes: [],
    metrics: { contentType: "text/plain", print: async () => "" },
    served: () => {},
    mailbox: null,
    logger: toLogger(logged),
    mail: { mailFrom: "Waybill <waybill@example.org>", dkim: null },
    maxAttempts: 4,
    now: () => now,
    ...given,
    log,
    contentStore,
    live,
  });
  return { app, log, contentStore, logged, stored, live };
}

export async function startApi(given: Partial<ApiDependencies> = {}): Promise<RunningApi> {
  const { live, ...api } = createTestApi(given);
  const { url, close } = await listen(api.app, "127.0.0.1", 0);
  return {
    ...api,
    url,
    close: async () => {
      live.close();
      await close();
    },
    ask: (method, path, request) => ask(method, url + path, request),
  };
}

const toLogger = (lines: string[]): Logger => pino({ level: "debug" }, { write: (line) => lines.push(line) });

const watched = (contentStore: ContentStore, stored: Uint8Array[]): ContentStore => ({
  maxBytes: contentStore.maxBytes,
  attachments: contentStore.attachments,
  get: contentStore.get,
  put: async (job, content) => {
    const isNew = await contentStore.put(job, content);
    if (isNew) stored.push(content);
    return isNew;
  },
});

/** A string or bytes go as they are, anything else as JSON. */
async function ask(method: string, url: string, { body, headers = {} }: Request = {}): Promise<Answered> {
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("Content-Type") ?? "");
  return { status: response.status, headers: response.headers, body: isJson && text !== "" ? JSON.parse(text) : text };
}

/** The smallest request that makes a job. */
export const mailing = { subject: "Your invoice", body: "Hello Ada", recipients: ["ada@example.com"] };
