import type { ContentStore, JobContent } from "../content/content-store.ts";
import { decodeContent, digestOf } from "../content/encode-content.ts";
import type { JobError } from "../domain/job/events.ts";
import type { HeldTurn } from "./turn.ts";

/** Read once for each attempt; an error where what the job was created with is not there any more. */
export async function loadContent(
  { job, settings }: Pick<HeldTurn, "job" | "settings">,
  contentStore: Pick<ContentStore, "get">,
): Promise<JobContent | JobError> {
  const bytes = await contentStore.get(job);
  if (bytes === null) return { code: "content-erased", message: "What was to be sent has been erased." };
  if (digestOf(bytes) !== settings.contentSha256) {
    return { code: "content-changed", message: "What was to be sent is not what the job was created with." };
  }
  return decodeContent(bytes);
}
