import type { JobRef } from "../event-log/event-log.ts";
import type { ContentStore } from "./content-store.ts";
import { decodeContent } from "./encode-content.ts";

/** To be called before the content is erased, which names them. Called again after a crash, it goes on. */
export async function eraseAttachments({ get, attachments }: ContentStore, job: JobRef): Promise<void> {
  const content = await get(job);
  if (content === null) return;
  for (const { sha256 } of decodeContent(content).attachments ?? []) await attachments.erase(job, sha256);
}
