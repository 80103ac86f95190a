import type { JobRef } from "../event-log/event-log.ts";

/** What goes with every mail of a job. The bytes are stored apart, under their digest: a message of the log holds 1 MB. */
export type ContentAttachment = {
  readonly filename: string;
  readonly contentType: string;
  /** By which the HTML shows it; null for one that stands beside the text. */
  readonly contentId: string | null;
  readonly size: number;
  readonly sha256: string;
};

/** An attachment of a job that is about to be stored. */
export type AttachmentFile = ContentAttachment & { readonly bytes: Buffer };

export type ContentRecipient = {
  /** Whoever is served: an address of mail, or the URL that a webhook goes to. */
  readonly email: string;
  readonly variables?: Readonly<Record<string, unknown>>;
};

/** What is sent and to whom: everything personal of a job, kept out of the log so that it can be erased. */
export type JobContent = {
  readonly name: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Null for what is no mail. */
  readonly subject: string | null;
  readonly html: string | null;
  readonly text: string | null;
  readonly from: string | null;
  readonly replyTo: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** By the index that events name them by. Null is one who was erased. */
  readonly recipients: readonly (ContentRecipient | null)[];
  /** Names the group whose jobs run one at a time. */
  readonly groupKey?: string;
  /** Called once the job has ended. */
  readonly webhookUrl?: string;
  /** Absent where subject and parts are sent as they are, braces and all. */
  readonly template?: "liquid";
  readonly attachments?: readonly ContentAttachment[];
  /** Each mail has a link of its own by which its recipient unsubscribes. */
  readonly unsubscribe?: true;
  /** What a kind of job that is no mail needs, as that kind has checked it. */
  readonly payload?: unknown;
};

/** Throws Unavailable when the store cannot be reached within its deadline. */
export interface AttachmentStore {
  /** Stores an attachment of a job once, under the SHA-256 (hex) of its bytes; one that is there already is left. */
  put(job: JobRef, sha256: string, bytes: Uint8Array): Promise<void>;

  /** The bytes, or null where they are not there, or not whole. */
  get(job: JobRef, sha256: string): Promise<Buffer | null>;

  /** Overwrites and removes it; one that is not there is no failure. */
  erase(job: JobRef, sha256: string): Promise<void>;
}

/** Throws Unavailable when the store cannot be reached within its deadline. */
export interface ContentStore {
  /** The largest content that can be stored, in bytes. */
  readonly maxBytes: number;
  readonly attachments: AttachmentStore;

  /** Stores the content of a job once. Where there is one already it is left as it is, and `false` comes back. */
  put(job: JobRef, content: Uint8Array): Promise<boolean>;

  /** The stored bytes, or null where there are none (any more). */
  get(job: JobRef): Promise<Uint8Array | null>;

  /**
   * Puts what is made of the content of a job in its place, and overwrites what was there; where nothing changes, it is
   * left. Where there is none (any more), nothing is stored. Called again after a crash, it goes on; of several at once
   * each makes its own of what the other has left. Throws LogFull.
   */
  rewrite(job: JobRef, change: (content: Uint8Array) => Uint8Array): Promise<void>;

  /** Overwrites and removes the content of a job; one that is not there is no failure. Attachments stay: see above. */
  erase(job: JobRef): Promise<void>;
}
