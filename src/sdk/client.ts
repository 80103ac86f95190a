import { createEvents } from "./events.ts";
import { createJobs } from "./jobs.ts";
import { createMailings } from "./mailings.ts";
import { createRequests, type Requests } from "./requests.ts";
import {
  createDeadLetters,
  createNotifications,
  createRecipients,
  createSchedules,
  createSuppressions,
  createTemplates,
  createWebhookEndpoints,
} from "./resources.ts";
import { createTransport, type WaybillOptions } from "./transport.ts";
import type { CallOptions, Stats } from "./types.ts";

// biome-ignore lint/performance/noBarrelFile: what applications import is one file.
export { EvidenceRefused, NoAnswer, RequestRefused, WaitedTooLong, WaybillError, WebhookRefused } from "./errors.ts";
export { cursorOf } from "./events.ts";
export {
  type EvidenceCheck,
  type EvidencedEvent,
  type EvidenceTrust,
  type ProvenEvidence,
  verifyEvidence,
} from "./evidence.ts";
export type { Lines, Recipients } from "./recipient-lines.ts";
export type { WaybillOptions } from "./transport.ts";
export type * from "./types.ts";
export { type ReceivedWebhook, type RecipientMessage, verifyWebhook, type Webhook } from "./webhook-signature.ts";

/** A running Waybill, used through its HTTP API. Needs nothing but fetch. */
export class Waybill {
  readonly jobs: ReturnType<typeof createJobs>;
  readonly mailings: ReturnType<typeof createMailings>;
  readonly schedules: ReturnType<typeof createSchedules>;
  readonly templates: ReturnType<typeof createTemplates>;
  readonly suppressions: ReturnType<typeof createSuppressions>;
  readonly recipients: ReturnType<typeof createRecipients>;
  readonly deadLetters: ReturnType<typeof createDeadLetters>;
  readonly webhookEndpoints: ReturnType<typeof createWebhookEndpoints>;
  readonly notifications: ReturnType<typeof createNotifications>;
  readonly events: ReturnType<typeof createEvents>;
  readonly stats: (options?: CallOptions) => Promise<Stats>;
  /** Any operation of the API that answers JSON, typed from its OpenAPI document. */
  readonly request: Requests["request"];
  /** The same for operations that answer anything else; the caller reads the body. */
  readonly open: Requests["open"];

  constructor(options: WaybillOptions) {
    const requests = createRequests(createTransport(options));
    this.request = requests.request;
    this.open = requests.open;
    this.jobs = createJobs(requests);
    this.mailings = createMailings(requests);
    this.schedules = createSchedules(requests);
    this.templates = createTemplates(requests);
    this.suppressions = createSuppressions(requests);
    this.recipients = createRecipients(requests);
    this.deadLetters = createDeadLetters(requests);
    this.webhookEndpoints = createWebhookEndpoints(requests);
    this.notifications = createNotifications(requests);
    this.events = createEvents(requests);
    this.stats = (asked = {}) => requests.request("get", "/api/stats", asked);
  }
}
