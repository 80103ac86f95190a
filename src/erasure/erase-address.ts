import { handleCommand } from "../commands/handle-command.ts";
import { type JobVersion, readJob } from "../commands/read-version.ts";
import { decodeContent, digestOf } from "../content/encode-content.ts";
import type { Instant } from "../domain/message.ts";
import { normalisedAddress } from "../domain/recipients/address.ts";
import { againOnConflict } from "../event-log/again-on-conflict.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { completeErasure, type ErasurePorts, withoutRecipients } from "./complete-erasure.ts";

export type AddressErasureRequest = {
  /** In any spelling: see normalisedAddress. */
  readonly address: string;
  readonly reason: string;
  readonly cause: Cause;
  readonly at: Instant;
};

/** `nothing-left` if the job does not hold the address (any more); `sequence` is that of the last decision about the job. */
export type AddressErasure =
  | { readonly outcome: "erased" | "nothing-left"; readonly sequence: number }
  | { readonly outcome: "not-ended" };

/** Erases one address from the content of a job, and leaves the others. */
export const eraseAddress = (
  ports: ErasurePorts,
  job: JobRef,
  request: AddressErasureRequest,
): Promise<AddressErasure> =>
  // Where another decision about the job comes first, what is left of the content may have changed.
  againOnConflict(
    () => readJob(ports.log, job),
    (from) => eraseOnce(ports, job, request, from),
  );

async function eraseOnce(
  ports: ErasurePorts,
  job: JobRef,
  { address, reason, cause, at }: AddressErasureRequest,
  from: JobVersion,
): Promise<AddressErasure> {
  const { log, contentStore } = ports;
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

/** The content was removed by other means: the decision tells the read models, which may still show it. */
const noContent = { recipients: null, contentSha256: null };

const contentWithout = (content: Uint8Array, recipients: readonly number[]) => ({
  recipients: [...new Set(recipients)],
  contentSha256: digestOf(withoutRecipients(content, recipients)),
});

/** The indices of the recipients with this address, in any spelling. */
export function placesOf(content: Uint8Array, address: string): readonly number[] {
  const wanted = normalisedAddress(address);
  return decodeContent(content).recipients.flatMap((recipient, index) =>
    recipient && normalisedAddress(recipient.email) === wanted ? [index] : [],
  );
}
