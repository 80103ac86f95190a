import { handleCommand } from "../commands/handle-command.ts";
import { newJob } from "../commands/read-version.ts";
import type { ContentStore } from "../content/content-store.ts";
import { decodeContent } from "../content/encode-content.ts";
import type { JobSettings } from "../domain/job/events.ts";
import { ifAhead } from "../domain/job/hold-back.ts";
import type { Existing } from "../domain/job/state.ts";
import type { ExistingMailing } from "../domain/mailing/state.ts";
import type { Cause, EventLog, JobRef } from "../event-log/event-log.ts";
import { LogFull } from "../event-log/log-failures.ts";
import type { LogRoom } from "../event-log/log-room.ts";

export type PartPorts = { readonly log: EventLog; readonly contentStore: ContentStore; readonly room: LogRoom };

/** Makes the job of a part, whose content was stored when it was added; a job that is there already is left as it is. */
export async function createPart(
  { log, contentStore, room }: PartPorts,
  mailing: JobRef,
  state: ExistingMailing,
  part: number,
  cause: Cause,
): Promise<{ readonly ref: JobRef; readonly state: Existing }> {
  const known = state.parts[part];
  if (known === undefined) throw new Error(`Mailing ${mailing.jobId} has no part ${part}.`);
  const ref = { ...mailing, jobId: known.jobId };
  if (!(await room.isLeftForJobs(known.recipients))) throw new LogFull("There is no room for another part.");
  const at = new Date().toISOString();
  const { undoForMs: _undo, needsApproval: _approval, brakes, ...ofParts } = state.settings;
  const settings: JobSettings = {
    ...ofParts,
    total: known.recipients,
    duplicates: 0,
    contentSha256: known.contentSha256,
    requestSha256: null,
    // A part of a mailing with brakes is made when it may go: see dueAt.
    scheduledAt: brakes === null ? ifAhead(state.scheduledAt, at) : null,
    requeueOf: null,
    hasWebhookUrl: false,
    mailingId: mailing.jobId,
  };
  await copyAttachments(contentStore, mailing, ref);
  const outcome = await handleCommand(log, ref, { type: "CreateJob", at, settings }, cause, { from: newJob });
  if (outcome.outcome === "accepted" && outcome.state.status !== "absent") return { ref, state: outcome.state };
  throw new Error(`Part ${part} of mailing ${mailing.jobId} cannot be made: it was abandoned.`);
}

/** Each job has attachments of its own, as it is erased by itself. */
async function copyAttachments({ get, attachments }: ContentStore, mailing: JobRef, job: JobRef): Promise<void> {
  const letter = await get(mailing);
  if (letter === null) return;
  for (const { sha256 } of decodeContent(letter).attachments ?? []) {
    const bytes = await attachments.get(mailing, sha256);
    if (bytes !== null) await attachments.put(job, sha256, bytes);
  }
}
