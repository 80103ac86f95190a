import type Koa from "koa";
import { type Logger, pino } from "pino";
import type { Access } from "../../src/access/access.ts";
import type { ContentStore } from "../../src/content/content-store.ts";
import { providersOf } from "../../src/domain/throttles/providers.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { createLive } from "../../src/history/live/live.ts";
import { type ApiDependencies, createApi, describeApi } from "../../src/http/api.ts";
import { createBodyBudget } from "../../src/http/server/body-budget.ts";
import { listen } from "../../src/http/server/listen.ts";
import { fixedRoutes } from "../../src/mail/routes/route-book.ts";
import { newSealKey } from "../../src/seals/seal-key.ts";
import { createSuppressionList } from "../../src/suppressions/suppression-list.ts";
import { type AnswerCheck, answerCheck, type OpenApi } from "./answers-match.ts";
import { emptyOutbox } from "./empty-outbox.ts";
import { now } from "./examples.ts";
import { createMemoryContentStore } from "./memory/memory-content-store.ts";
import { createMemoryEventLog } from "./memory/memory-event-log.ts";
import { createMemoryResultStore } from "./memory/memory-result-store.ts";
import { createMemorySuppressionStore } from "./memory/memory-suppression-store.ts";
import { createMemoryTemplateStore } from "./memory/memory-template-store.ts";
import { createMemoryWebhookStore } from "./memory/memory-webhook-store.ts";
import { mailRoute } from "./one-route.ts";

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

/** No request needs a key. */
const openAccess: Access = {
  isStillAdmitted: () => true,
  admit: async () => {
    const limits = { senders: null, dailyRecipients: null, approvalAbove: null };
    return { outcome: "admitted", caller: { tenant: "default", actor: "anonymous", limits }, rate: null };
  },
};

const away = async (): Promise<never> => {
  throw new Unavailable("There is no stream in memory.");
};

/** A log whose bytes cannot be read: seals are tested on a real one. */
const noSeals = (): ApiDependencies["seals"] => {
  const sealedLog = {
    state: away,
    lastSeal: away,
    messageAt: away,
    sealAt: away,
    hasCopies: () => false,
    isPassed: away,
    messages: (): AsyncIterable<never> => ({ [Symbol.asyncIterator]: () => ({ next: away }) }),
  };
  return { key: newSealKey(), sealedLog, sealer: { sealNow: away, sealWhatIsDue: away } };
};

const noFile = { type: "text/html", bytes: Buffer.alloc(0), gzipped: Buffer.alloc(0), digest: "" };

/** What a service has only where it was built, or where it catches its mail. */
export const allParts: Partial<ApiDependencies> = {
  mailbox: { list: () => [], find: () => null },
  dashboard: { page: noFile, mailFrame: noFile, findAsset: () => null },
  apiReference: { findFile: async () => null },
};

export const noMailings: ApiDependencies["mailings"] = {
  find: noReadModel,
  list: noReadModel,
  names: noReadModel,
  withUnmade: noReadModel,
  countStopped: noReadModel,
  countOpen: noReadModel,
};

/** The application without a port. Without a database unless one is given: whatever does not need one has to work. */
export function createTestApi(given: Partial<ApiDependencies> = {}) {
  const logged: string[] = [];
  const stored: Uint8Array[] = [];
  const log = given.log ?? createMemoryEventLog();
  const contentStore = watched(given.contentStore ?? createMemoryContentStore(), stored);
  const live = given.live ?? createLive({ log, contentStore, report: () => {} });
  const app = createApi({
    jobs: { find: noReadModel, list: noReadModel, names: noReadModel },
    mailings: noMailings,
    schedules: { list: noReadModel, firings: noReadModel, all: noReadModel, countAll: noReadModel },
    waiting: { groupOrder: noReadModel },
    logs: { list: noReadModel, listOfMailing: noReadModel },
    recipients: { ofJob: noReadModel, ofMailing: noReadModel, ofAddress: noReadModel },
    exportedRecipients: { ofJob: noReadModel, ofMailing: noReadModel, ofAddress: noReadModel },
    deadLetters: { list: noReadModel, countOpen: noReadModel, count: noReadModel, causes: noReadModel },
    notifications: { list: noReadModel },
    webhooks: {
      store: createMemoryWebhookStore(),
      deliveries: { list: noReadModel, find: noReadModel },
      post: async () => ({ kind: "answered", statusCode: 204, retryAfterMs: null }),
      allowed: [],
    },
    seals: noSeals(),
    stats: { read: noReadModel, series: noReadModel },
    mailRates: { byName: noReadModel, overTime: noReadModel },
    projectionLags: noReadModel,
    readModels: { list: noReadModel, requestRebuild: noReadModel },
    system: { streams: away, consumers: away, workers: away, keys: away, throttles: away },
    readPosition: { waitFor: async () => false },
    results: createMemoryResultStore(),
    outbox: emptyOutbox,
    storedThings: { unsettledOf: async function* () {} },
    room: { isLeftForJobs: async () => true },
    access: openAccess,
    bodies: createBodyBudget(256 * 1024 * 1024),
    quota: { take: async () => ({ granted: true }) },
    probes: [],
    metrics: { contentType: "text/plain", print: async () => "" },
    served: () => {},
    mailbox: null,
    dashboard: null,
    apiReference: null,
    natsPrefix: "",
    logger: toLogger(logged),
    mail: {
      mailFrom: "Waybill <waybill@example.org>",
      dkim: null,
      publicUrl: "https://waybill.example.org",
      returnPaths: null,
    },
    mailRoutes: { book: fixedRoutes([mailRoute()]), store: { isSealed: false, change: away, remove: away } },
    routesFor: () => ["default"],
    providers: providersOf([]),
    examineSender: async () => [],
    reports: { take: away, unattributed: { list: async () => [] } },
    suppressions: createSuppressionList(createMemorySuppressionStore()),
    templates: createMemoryTemplateStore(),
    maxAttempts: 4,
    approvalAbove: null,
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
  rewrite: contentStore.rewrite,
  erase: contentStore.erase,
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
  const answered = {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== "" ? JSON.parse(text) : text,
  };
  expectDescribed(method, url, answered);
  return answered;
}

let check: AnswerCheck | null = null;

/** Fails where an answer is none that the OpenAPI document of the service describes. */
export function expectDescribed(method: string, url: string, answered: Answered): void {
  check ??= answerCheck(documentOfAll());
  check(method, url, answered);
}

/** As a service sends it that has all its parts, also those that a test does not start. */
export const documentOfAll = (): OpenApi => JSON.parse(JSON.stringify(describeApi())) as OpenApi;

/** The smallest request that makes a job. */
export const mailing = { subject: "Your invoice", body: "Hello Ada", recipients: ["ada@example.com"] };
