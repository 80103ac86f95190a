import type { TemplateUse } from "../domain/job/events.ts";
import type { JobRef } from "../event-log/event-log.ts";

/**
 * An attachment of every mail of a job. The bytes are stored separately, under their digest: a message of the log holds
 * 1 MB.
 */
export type ContentAttachment = {
  readonly filename: string;
  readonly contentType: string;
  /** The id by which the HTML shows it inline; null for one beside the text. */
  readonly contentId: string | null;
  readonly size: number;
  readonly sha256: string;
};

/** An attachment of a job that is about to be stored. */
export type AttachmentFile = ContentAttachment & { readonly bytes: Buffer };

export type ContentRecipient = {
  /** The address: an e-mail address, or the URL that a webhook calls. */
  readonly email: string;
  /** What the mail says beside the address in To; templates know it as `name`. */
  readonly name?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
};

/** What is sent and to whom: all the personal data of a job, kept out of the log so that it can be erased. */
export type JobContent = {
  readonly name: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Null for jobs that are not mailings. */
  readonly subject: string | null;
  readonly html: string | null;
  readonly text: string | null;
  readonly from: string | null;
  readonly replyTo: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** In the order of the indexes in events. Null is an erased recipient. */
  readonly recipients: readonly (ContentRecipient | null)[];
  /** The name of the group whose jobs run one at a time. */
  readonly groupKey?: string;
  /** The URL that is called once the job has ended. */
  readonly webhookUrl?: string;
  /** Absent if subject and parts are sent verbatim, braces included. */
  readonly template?: "liquid";
  /** The stored letter that these words are a copy of. */
  readonly fromTemplate?: TemplateUse;
  readonly attachments?: readonly ContentAttachment[];
  /** Each mail has its own link for its recipient to unsubscribe. */
  readonly unsubscribe?: true;
  /** For a part of a mailing, the id of the mailing; null for the letter of a mailing, which has no recipients. */
  readonly mailingId?: string | null;
  /** For the template of a schedule, the id of the schedule; the request that it repeats is the payload. */
  readonly scheduleId?: string;
  /** The data of a job of another kind, as that kind has validated it. */
  readonly payload?: unknown;
};

/** Throws Unavailable when the store cannot be reached within its deadline. */
export interface AttachmentStore {
  /** Stores an attachment of a job once, under the SHA-256 (hex) of its bytes; an existing one is left as it is. */
  put(job: JobRef, sha256: string, bytes: Uint8Array): Promise<void>;

  /** The bytes, or null if they are missing or incomplete. */
  get(job: JobRef, sha256: string): Promise<Buffer | null>;

  /** Overwrites and removes it; a missing one is not a failure. */
  erase(job: JobRef, sha256: string): Promise<void>;
}

/** Throws Unavailable when the store cannot be reached within its deadline. */
export interface ContentStore {
  /** The largest content that can be stored, in bytes. */
  readonly maxBytes: number;
  readonly attachments: AttachmentStore;

  /** Stores the content of a job once. An existing content is left as it is, and the result is `false`. */
  put(job: JobRef, content: Uint8Array): Promise<boolean>;

  /** The stored bytes, or null if there are none (any more). */
  get(job: JobRef): Promise<Uint8Array | null>;

  /**
   * Replaces the content of a job with the result of the change, and overwrites the old bytes; an unchanged content is
   * left. If there is none (any more), nothing is stored. Called again after a crash, it continues; of several
   * concurrent calls each applies its change to the result of the others. Throws LogFull.
   */
  rewrite(job: JobRef, change: (content: Uint8Array) => Uint8Array): Promise<void>;

  /** Overwrites and removes the content of a job; a missing one is not a failure. Attachments stay: see above. */
  erase(job: JobRef): Promise<void>;
}
