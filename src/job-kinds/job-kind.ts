import type { Static, TObject, TProperties } from "typebox";
import type { Scope } from "../access/key-ring.ts";
import type { AttachmentFile, ContentRecipient, ContentStore, JobContent } from "../content/content-store.ts";
import type { JobSettings } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import type { ResultEvent } from "../domain/result/events.ts";
import type { JobRef } from "../event-log/event-log.ts";
import type { Checked, Fault } from "../schemas/fault.ts";
import type { JobRequest } from "../schemas/job-request.ts";
import type { RequestForm } from "../schemas/request-form.ts";
import type { AllowedNetworks } from "../signed-post/addresses.ts";
import type { JobWork } from "../workers/job-work.ts";
import type { MailPorts, MailSettings } from "./email/mail-work.ts";
import type { ReportPorts } from "./report/report-work.ts";
import type { DeliveryPorts } from "./webhook/delivery-work.ts";

/** What the caller may ask for. */
export type CallerRules = {
  /** Null where any sender may be named. */
  readonly senders: readonly string[] | null;
  /** Private networks that webhooks may call despite the guard. */
  readonly allowed: AllowedNetworks;
  /** The names of the mail routes that may carry its mails from this sender; undefined for the service's own. */
  readonly routesFor: (from: string | undefined) => readonly string[];
  /** The address at which people outside reach the API; null where no setting gives it. */
  readonly publicUrl: string | null;
};

/** The part of a job's content that its kind fills; the rest is the same for all kinds. */
export type KindContent = Partial<
  Pick<
    JobContent,
    "subject" | "html" | "text" | "from" | "replyTo" | "headers" | "template" | "unsubscribe" | "payload"
  >
>;

/** A request that names a template has none of its `words`; of the others, what the request says itself stands. */
export type LetterFields = { readonly words: readonly string[]; readonly others: readonly string[] };

/** A checked request, before a job is created from it. */
export type Draft = {
  readonly job: JobRef;
  readonly settings: JobSettings;
  readonly decoded: JobContent;
  readonly attachments: readonly AttachmentFile[];
};

/** What a kind needs to show its messages. */
export type ShowPorts = { readonly contentStore: ContentStore; readonly mail: MailSettings };

/** One recipient of a job, as its content names it. */
export type SentTo = {
  readonly job: JobRef;
  readonly content: JobContent;
  readonly index: number;
  readonly recipient: ContentRecipient;
};

export type ShownMessage = { readonly mediaType: string; readonly bytes: Uint8Array };

/** A complete file, as the log describes it. */
export type StoredResult = Omit<ResultEvent["data"], "sha256"> & { readonly sha256: string };

/** How the API answers with a file that a job has made. */
export type FileOfJob = {
  readonly name: string;
  readonly mediaType: string;
  /** The scope that a key needs besides reading jobs; null for none. */
  readonly scope: Scope | null;
};

/** What the kinds work with; each takes what it needs. `roles` creates them: a new port is one line here and one there. */
export type WorkPorts = {
  readonly contentStore: ContentStore;
  readonly mail: MailPorts;
  readonly reports: Omit<ReportPorts, "contentStore">;
  readonly webhooks: DeliveryPorts;
};

/**
 * A kind of job: its name, the form of its requests, and the work that it does. Everything else (storing, queueing,
 * leases, retries, cancelling, read models, answers) is the same for all kinds. The log holds the name, so it never changes.
 */
export type JobKind = RequestForm & {
  /** Finds the faults of a request that has the right shape, all at once. */
  readonly check?: (request: JobRequest, rules: CallerRules) => Checked<null>;
  readonly toContent: (request: JobRequest) => KindContent;
  /** See JobSettings.deferForMs; without this function, a deferred recipient has as many attempts as the job. */
  readonly deferForMs?: (request: JobRequest) => number | null;
  /** The mail route that a request asks for; undefined for any. */
  readonly routeOf?: (request: JobRequest) => string | undefined;
  /** The fields of a request that can be stored under a name, as a template; absent for a kind without templates. */
  readonly letter?: LetterFields;
  /** The attachments of a request, which are stored apart from the rest of the content. */
  readonly attachments?: (request: JobRequest) => readonly AttachmentFile[];
  /** Finds the faults that show only when the content is put together. */
  readonly checkContent?: (content: JobContent, request: JobRequest) => Promise<readonly Fault[]>;
  /** Two texts that mean the same recipient give the same key; without this function, only equal texts do. */
  readonly recipientKey?: (text: string) => string;
  /** Shows what a job would do first; stores nothing and sends nothing. Absent for a kind that cannot show it. */
  readonly dryRun?: (draft: Draft, ports: Pick<ShowPorts, "mail">, at: Instant) => Promise<object>;
  /** Makes the message to one recipient again; returns a sentence with the reason where it cannot. */
  readonly messageTo?: (sent: SentTo, ports: ShowPorts, at: Instant) => Promise<ShownMessage | string>;
  /** The words for one recipient, where they are more than the content itself; null where none were sent. */
  readonly wordsTo?: (content: JobContent, recipient: ContentRecipient) => object | null;
  /** The file that each of its jobs makes; absent for a kind whose jobs make none. An erasure erases the file. */
  readonly file?: (result: StoredResult, jobId: string) => FileOfJob;
  /** Creates the work of the kind; called once in each process that has workers. */
  readonly createWork: (ports: WorkPorts) => JobWork;
};

export type RequestOf<Fields extends TProperties> = JobRequest & Static<TObject<Fields>>;

/** A kind whose functions know the kind's own fields by their type. */
type Typed<Fields extends TProperties> = Omit<
  JobKind,
  "fields" | "check" | "toContent" | "deferForMs" | "routeOf" | "attachments" | "checkContent"
> & {
  readonly fields: Fields;
  readonly check?: (request: RequestOf<Fields>, rules: CallerRules) => Checked<null>;
  readonly toContent: (request: RequestOf<Fields>) => KindContent;
  readonly deferForMs?: (request: RequestOf<Fields>) => number | null;
  readonly routeOf?: (request: RequestOf<Fields>) => string | undefined;
  readonly attachments?: (request: RequestOf<Fields>) => readonly AttachmentFile[];
  readonly checkContent?: (content: JobContent, request: RequestOf<Fields>) => Promise<readonly Fault[]>;
};

/** The cast holds because a kind receives only requests that its own form has accepted. */
export const jobKind = <Fields extends TProperties>(kind: Typed<Fields>): JobKind => kind as unknown as JobKind;
