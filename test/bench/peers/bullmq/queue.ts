import type { ConnectionOptions } from "bullmq";

export const queueName = "mailings";

/** What the API puts into the queue: the mailing itself, so that the worker needs no other look. */
export type QueuedMailing = {
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly recipients: readonly string[];
};

export const connectionTo = (port: number): ConnectionOptions => ({
  host: "127.0.0.1",
  port,
  // A worker of BullMQ demands it: a blocking call waits for as long as it takes.
  maxRetriesPerRequest: null,
});

/** How often a job is tried whose mails the server put off. */
export const attempts = 4;
