import type { JobRef } from "../event-log/event-log.ts";
import type { ContentStore } from "./content-store.ts";
import { decodeContent } from "./encode-content.ts";

/** Erases all that was stored for a job, where its history says so. Called again after a crash, it goes on. */
export async function eraseContent(contentStore: ContentStore, job: JobRef): Promise<void> {
  // First, as it is the content that names them.
  await eraseAttachments(contentStore, job);
  await contentStore.erase(job);
}

async function eraseAttachments({ get, attachments }: ContentStore, job: JobRef): Promise<void> {
  const content = await get(job);
  if (content === null) return;
  for (const { sha256 } of decodeContent(content).attachments ?? []) await attachments.erase(job, sha256);
}
