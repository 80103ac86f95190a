import { type JobLabels, noLabels } from "../domain/job/job-record.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { type AppendOutcome, timed } from "../event-log/observe-appends.ts";
import type { ContentAttachment, ContentStore, JobContent } from "./content-store.ts";
import { decodeContent, digestOf } from "./encode-content.ts";
import type { ResultStore } from "./result-store.ts";

/**
 * Erases everything that was stored for a job, once its history decides so. Called again after a crash, it continues.
 */
export async function eraseContent(contentStore: ContentStore, job: JobRef): Promise<void> {
  // First, because the content names them.
  await eraseAttachments(contentStore, job);
  await contentStore.erase(job);
}

async function eraseAttachments({ get, attachments }: ContentStore, job: JobRef): Promise<void> {
  const content = await get(job);
  if (content === null) return;
  for (const { sha256 } of attachmentsIn(content)) await attachments.erase(job, sha256);
}

/** None of a content that cannot be decoded: it is to be erased all the same. */
function attachmentsIn(content: Uint8Array): readonly ContentAttachment[] {
  try {
    return decodeContent(content).attachments ?? [];
  } catch (failure) {
    if (failure instanceof SyntaxError) return [];
    throw failure;
  }
}

/** The parts of a job's content that are shown with the job; null or empty once they are erased. */
export async function readLabels(contentStore: Pick<ContentStore, "get">, job: JobRef): Promise<JobLabels> {
  const stored = await contentStore.get(job);
  return stored === null ? noLabels : labelsOf(decodeContent(stored));
}

const labelsOf = ({ name, subject, metadata }: JobContent): JobLabels => ({ name, subject, metadata });

export type NamedContent = { readonly job: JobRef; readonly settings: { readonly contentSha256: string } };

/** The content that a job was created with, or the error of a job whose content was erased or changed. */
export async function loadContent(
  { job, settings }: NamedContent,
  contentStore: Pick<ContentStore, "get">,
): Promise<JobContent | { readonly code: string; readonly message: string }> {
  const bytes = await contentStore.get(job);
  if (bytes === null) return { code: "content-erased", message: "What was to be sent has been erased." };
  if (digestOf(bytes) !== settings.contentSha256) {
    return { code: "content-changed", message: "The stored content is not the one that the job was created with." };
  }
  return decodeContent(bytes);
}

export type LoadedAttachment = Pick<ContentAttachment, "filename" | "contentType" | "contentId"> & {
  readonly bytes: Buffer;
};

/** The attachments that a content names; null where one is missing or was changed. */
export async function loadAttachments(
  { attachments }: Pick<ContentStore, "attachments">,
  job: JobRef,
  named: readonly ContentAttachment[] = [],
): Promise<readonly LoadedAttachment[] | null> {
  const loaded: LoadedAttachment[] = [];
  for (const { sha256, filename, contentType, contentId } of named) {
    const bytes = await attachments.get(job, sha256);
    if (bytes === null || digestOf(bytes) !== sha256) return null;
    loaded.push({ filename, contentType, contentId, bytes });
  }
  return loaded;
}

/** The same store, which reports whether a content could be stored. */
export const observeContents = (store: ContentStore, observe: (outcome: AppendOutcome) => void): ContentStore => ({
  ...store,
  // It changes with the connected server.
  get maxBytes() {
    return store.maxBytes;
  },
  put: (job, content) => timed(() => store.put(job, content), observe),
});

/**
 * Erases the files that the runs of a job have stored, complete or not: they hold addresses and subjects. Only for a
 * job that has ended, because a running one would continue to store. Called again after a crash, it continues; if there
 * is nothing (any more), it does nothing. It asks which pieces there are, as a worker that stood still may have stored one
 * after an earlier erasure.
 */
export async function eraseResult(results: Pick<ResultStore, "piecesOf" | "erase">, job: JobRef): Promise<void> {
  const pieces = await results.piecesOf(job);
  // From the end: where the last piece of a file exists, all of them do.
  for (const { run, index } of [...pieces].sort((one, other) => other.index - one.index)) {
    await results.erase({ ...job, run }, index);
  }
}
