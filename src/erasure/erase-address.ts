import { handleCommand, readJob } from "../commands/handle-command.ts";
import { decodeContent, digestOf } from "../content/encode-content.ts";
import type { Instant } from "../domain/message.ts";
import { type Cause, type JobRef, VersionConflict } from "../event-log/event-log.ts";
import { completeErasure, type ErasurePorts, withoutRecipients } from "./complete-erasure.ts";

export type AddressErasureRequest = {
  /** Found in any case. */
  readonly address: string;
  readonly reason: string;
  readonly cause: Cause;
  readonly at: Instant;
};

/** `nothing-left` where it is not in the job (any more); `sequence` is that of the last decision about the job. */
export type AddressErasure =
  | { readonly outcome: "erased" | "nothing-left"; readonly sequence: number }
  | { readonly outcome: "not-ended" };

/** Erases one address from what a job has sent, and leaves the others. */
export async function eraseAddress(
  ports: ErasurePorts,
  job: JobRef,
  wish: AddressErasureRequest,
): Promise<AddressErasure> {
  for (;;) {
    try {
      return await eraseOnce(ports, job, wish);
    } catch (failure) {
      // Somebody decided about the job meanwhile: what would be left may be something else by now.
      if (!(failure instanceof VersionConflict)) throw failure;
    }
  }
}

async function eraseOnce(
  ports: ErasurePorts,
  job: JobRef,
  { address, reason, cause, at }: AddressErasureRequest,
): Promise<AddressErasure> {
  const { log, contentStore } = ports;
  const from = await readJob(log, job);
  if (from.state.status === "absent") return { outcome: "nothing-left", sequence: 0 };
  const stored = await contentStore.get(job);
  const found = stored === null ? [] : placesOf(stored, address);
  const { erased } = from.state;
  if (erased.isWhole || (stored !== null && found.length === 0)) {
    await completeErasure(ports, job);
    return { outcome: "nothing-left", sequence: from.sequence };
  }
  const left = stored === null ? noContent : contentWithout(stored, [...erased.recipients, ...found]);
  const command = { type: "EraseContent", at, ...left, isRetired: false, reason } as const;
  const outcome = await handleCommand(log, job, command, cause, { from, maxConflicts: 0 });
  if (outcome.outcome === "rejected") return { outcome: "not-ended" };
  await completeErasure(ports, job);
  return { outcome: "erased", sequence: outcome.sequence };
}

/** Somebody has removed the content past the service: the read models have to be told, who may still show it. */
const noContent = { recipients: null, contentSha256: null };

const contentWithout = (content: Uint8Array, recipients: readonly number[]) => ({
  recipients: [...new Set(recipients)],
  contentSha256: digestOf(withoutRecipients(content, recipients)),
});

/** By which indices the recipients of a content have the address, in any case. */
export function placesOf(content: Uint8Array, address: string): readonly number[] {
  const wanted = address.toLowerCase();
  return decodeContent(content).recipients.flatMap((recipient, index) =>
    recipient?.email.toLowerCase() === wanted ? [index] : [],
  );
}
