import type { Static, TObject, TProperties } from "typebox";
import type { Scope } from "../access/key-ring.ts";
import type { JobContent } from "../content/content-store.ts";
import type { ResultEvent } from "../domain/result/events.ts";
import type { Checked, Fault } from "../schemas/fault.ts";
import type { JobRequest } from "../schemas/job-request.ts";
import type { RequestForm } from "../schemas/request-form.ts";
import type { AllowedNetworks } from "../signed-post/addresses.ts";
import type { JobWork } from "../workers/job-work.ts";
import type { AttachmentFile } from "./email/attachments-of-request.ts";
import type { WorkPorts } from "./work-ports.ts";

/** What the caller may ask for. */
export type CallerRules = {
  /** Null where every sender may be named. */
  readonly senders: readonly string[] | null;
  /** Private networks that may be called all the same. */
  readonly allowed: AllowedNetworks;
  /** Where people outside reach the API; null where nobody said it. */
  readonly publicUrl: string | null;
};

/** What of a job's content is its kind's to say; the rest every job has. */
export type KindContent = Partial<
  Pick<
    JobContent,
    "subject" | "html" | "text" | "from" | "replyTo" | "headers" | "template" | "unsubscribe" | "payload"
  >
>;

/** A file that is whole, as the log tells of it. */
export type StoredResult = Omit<ResultEvent["data"], "sha256"> & { readonly sha256: string };

/** How a file that a job has made is answered. */
export type FileOfJob = {
  readonly name: string;
  readonly mediaType: string;
  /** The scope that a key needs besides that of reading jobs; null for none. */
  readonly scope: Scope | null;
};

/**
 * A kind of job: its name, what a request for it says, and what is done. Everything else (storing, queueing, leases,
 * retries, cancelling, read models, answers) is the same for all kinds. Its name is written into the log: it stays for ever.
 */
export type JobKind = RequestForm & {
  /** What is wrong with a request that has the right shape, every fault at once. */
  readonly check?: (request: JobRequest, rules: CallerRules) => Checked<null>;
  readonly toContent: (request: JobRequest) => KindContent;
  /** What goes with it, stored apart from the rest of the content. */
  readonly attachments?: (request: JobRequest) => readonly AttachmentFile[];
  /** What is found wrong only when it is put together. */
  readonly checkContent?: (content: JobContent, request: JobRequest) => Promise<readonly Fault[]>;
  /** Two texts that mean the same recipient give the same key; without it, those that are equal do. */
  readonly recipientKey?: (text: string) => string;
  /** The file that each of its jobs makes; absent for a kind whose jobs make none. An erasure erases it. */
  readonly file?: (result: StoredResult, jobId: string) => FileOfJob;
  /** What its workers do; called once for each process that works. */
  readonly createWork: (ports: WorkPorts) => JobWork;
};

export type RequestOf<Fields extends TProperties> = JobRequest & Static<TObject<Fields>>;

/** A kind whose functions are told of its own fields by their type. */
type Typed<Fields extends TProperties> = Omit<
  JobKind,
  "fields" | "check" | "toContent" | "attachments" | "checkContent"
> & {
  readonly fields: Fields;
  readonly check?: (request: RequestOf<Fields>, rules: CallerRules) => Checked<null>;
  readonly toContent: (request: RequestOf<Fields>) => KindContent;
  readonly attachments?: (request: RequestOf<Fields>) => readonly AttachmentFile[];
  readonly checkContent?: (content: JobContent, request: RequestOf<Fields>) => Promise<readonly Fault[]>;
};

/** The cast holds because a kind is given no request but what its own form has let through. */
export const jobKind = <Fields extends TProperties>(kind: Typed<Fields>): JobKind => kind as unknown as JobKind;
