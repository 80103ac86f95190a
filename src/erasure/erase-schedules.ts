import { handleScheduleCommand } from "../commands/handle-command.ts";
import { readSchedule, type ScheduleVersion } from "../commands/read-version.ts";
import { decodeContent, digestOf, encodeContent } from "../content/encode-content.ts";
import { eraseContent } from "../content/stored-content.ts";
import { againOnConflict } from "../event-log/again-on-conflict.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { VersionConflict } from "../event-log/log-failures.ts";
import { newId } from "../event-log/new-id.ts";
import type { ErasurePorts } from "./complete-erasure.ts";
import { type AddressErasureRequest, placesOf } from "./erase-address.ts";

type Ports = Pick<ErasurePorts, "log" | "contentStore">;

/**
 * Takes an address out of the templates of schedules: each that names it is stored anew without it, and the one before is
 * erased. After a crash in between, the eraser erases it. Returns the sequences of the decisions, by schedule.
 */
export async function eraseFromSchedules(
  ports: Ports,
  schedules: readonly JobRef[],
  request: AddressErasureRequest,
): Promise<ReadonlyMap<JobRef, number>> {
  const changed = new Map<JobRef, number>();
  for (const schedule of schedules) {
    const sequence = await eraseFrom(ports, schedule, request);
    if (sequence !== null) changed.set(schedule, sequence);
  }
  return changed;
}

const eraseFrom = (ports: Ports, ref: JobRef, request: AddressErasureRequest): Promise<number | null> =>
  // It may fire, or be changed, meanwhile.
  againOnConflict(
    () => readSchedule(ports.log, ref),
    (from) => eraseOnce(ports, ref, request, from),
  );

async function eraseOnce(
  { log, contentStore }: Ports,
  ref: JobRef,
  request: AddressErasureRequest,
  from: ScheduleVersion,
): Promise<number | null> {
  const { address, reason, cause, at } = request;
  if (from.state.status === "absent" || from.state.status === "deleted") return null;
  const before: JobRef = { ...ref, jobId: from.state.contentId };
  const stored = await contentStore.get(before);
  if (stored === null) {
    const now = await readSchedule(log, ref);
    // It was changed meanwhile, and its template is another one.
    return now.sequence === from.sequence ? null : await eraseOnce({ log, contentStore }, ref, request, now);
  }
  const places = new Set(placesOf(stored, address));
  if (places.size === 0) return null;
  const decoded = decodeContent(stored);
  const left = decoded.recipients.filter((_, index) => !places.has(index));
  const content = encodeContent({ ...decoded, recipients: left });
  const after: JobRef = { ...ref, jobId: newId() };
  await contentStore.put(after, content);
  const named = { contentId: after.jobId, contentSha256: digestOf(content) };
  const command = { type: "EraseRecipients", at, reason, content: named, recipients: left.length } as const;
  try {
    const outcome = await handleScheduleCommand(log, ref, command, cause, { from, maxConflicts: 0 });
    if (outcome.outcome === "rejected") throw new Error(`The schedule ${ref.jobId} refused: ${outcome.rejection.code}`);
    await eraseContent(contentStore, before);
    return outcome.sequence;
  } catch (failure) {
    if (failure instanceof VersionConflict) await eraseContent(contentStore, after);
    throw failure;
  }
}
