import type { JobRef } from "../event-log/event-log.ts";

export type ContentRecipient = {
  readonly email: string;
  readonly variables?: Readonly<Record<string, unknown>>;
};

/** What is sent and to whom: everything personal of a job, kept out of the log so that it can be erased. */
export type JobContent = {
  readonly name: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  readonly from: string | null;
  readonly replyTo: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly recipients: readonly ContentRecipient[];
};

/** Throws LogUnavailable when the store cannot be reached within its deadline. */
export interface ContentStore {
  /** The largest content that can be stored, in bytes. */
  readonly maxBytes: number;

  /** Stores the content of a job once. Where there is one already it is left as it is, and `false` comes back. */
  put(job: JobRef, content: Uint8Array): Promise<boolean>;

  /** The stored bytes, or null where there are none (any more). */
  get(job: JobRef): Promise<Uint8Array | null>;
}
