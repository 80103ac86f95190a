import { handleScheduleCommand, type ScheduleOutcome } from "../../commands/handle-command.ts";
import { readSchedule, type ScheduleVersion } from "../../commands/read-version.ts";
import type { ContentStore } from "../../content/content-store.ts";
import { digestOf, encodeContent } from "../../content/encode-content.ts";
import { eraseContent } from "../../content/stored-content.ts";
import type { Instant } from "../../domain/message.ts";
import { keepsTemplate, type ScheduleCommand } from "../../domain/schedule/decider.ts";
import { replacedBy, type ScheduleEvent } from "../../domain/schedule/events.ts";
import type { Cause, EventLog, JobRef } from "../../event-log/event-log.ts";
import { newId } from "../../event-log/new-id.ts";
import type { Refusal } from "../../intake/check-request.ts";
import { toScheduleContent } from "./schedule-content.ts";
import type { ScheduleRequest } from "./schedule-request.ts";

type Ports = { readonly log: EventLog; readonly contentStore: ContentStore };

export type Saving = {
  readonly request: ScheduleRequest;
  readonly cause: Cause;
  readonly at: Instant;
} & ({ readonly as: "new"; readonly requestSha256: string | null } | { readonly as: "change" });

export type Saved = ScheduleOutcome | { readonly outcome: "refused"; readonly refusal: Refusal };

/**
 * Stores the name and the template under an id of this request alone, then the event that names it; then erases what it
 * replaces. A crash in between leaves content that no event names, or that the event replaces: the sweeper erases the one, the
 * eraser the other.
 */
export async function saveSchedule(ports: Ports, ref: JobRef, saving: Saving): Promise<Saved> {
  const { log, contentStore } = ports;
  const { request, cause, at } = saving;
  const { name, settings, template } = request;
  const content = encodeContent(toScheduleContent(ref.jobId, name, template));
  const { maxBytes } = contentStore;
  if (content.length > maxBytes) {
    return {
      outcome: "refused",
      refusal: { code: "content-too-large", of: "content", bytes: content.length, maxBytes },
    };
  }
  const stored: JobRef = { ...ref, jobId: newId() };
  const asked = {
    at,
    settings,
    content: { contentId: stored.jobId, contentSha256: digestOf(content) },
    by: cause.actor,
  };
  const command: ScheduleCommand =
    saving.as === "new"
      ? { type: "CreateSchedule", ...asked, requestSha256: saving.requestSha256 }
      : { type: "ChangeSchedule", ...asked };
  const from: ScheduleVersion = await readSchedule(log, ref);
  await contentStore.put(stored, content);
  const outcome = await handleScheduleCommand(log, ref, command, cause, { from });
  if (outcome.outcome === "rejected" || outcome.events.length === 0) await eraseContent(contentStore, stored);
  else if ((await contentStore.get(stored)) === null) await storeAgain(ports, ref, stored, content);
  if (outcome.outcome === "accepted") await eraseReplaced(contentStore, ref, outcome.events);
  return outcome;
}

/** It took so long that the sweeper was faster; or the template was replaced since, and must stay away. */
async function storeAgain(
  { log, contentStore }: Ports,
  ref: JobRef,
  stored: JobRef,
  content: Uint8Array,
): Promise<void> {
  await contentStore.put(stored, content);
  const { state } = await readSchedule(log, ref);
  // Asked after it was stored: whoever replaces it from now on erases it.
  if (!keepsTemplate(state, stored.jobId)) await eraseContent(contentStore, stored);
}

export async function deleteSchedule(
  { log, contentStore }: Ports,
  ref: JobRef,
  command: Extract<ScheduleCommand, { type: "DeleteSchedule" }>,
  cause: Cause,
): Promise<ScheduleOutcome> {
  const outcome = await handleScheduleCommand(log, ref, command, cause);
  if (outcome.outcome === "accepted") await eraseReplaced(contentStore, ref, outcome.events);
  return outcome;
}

async function eraseReplaced(store: ContentStore, ref: JobRef, events: readonly ScheduleEvent[]): Promise<void> {
  for (const event of events) {
    const contentId = replacedBy(event);
    if (contentId !== null) await eraseContent(store, { ...ref, jobId: contentId });
  }
}
