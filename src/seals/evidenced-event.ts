import { checkedBy } from "../schemas/checked-by.ts";
import { cloudEvent } from "../schemas/cloud-event.ts";
import type { EvidenceEvent } from "./evidence-format.ts";

/** An event as its stored bytes say, in whatever version it was written: only what people are shown is read. */
export type EvidencedEvent = {
  readonly sequence: number;
  readonly type: string;
  readonly time: string;
  readonly actor: string;
  readonly data: Readonly<Record<string, unknown>>;
};

const checkedEnvelope = checkedBy(cloudEvent);

type Read = { readonly event: EvidencedEvent | null; readonly fault: string | null };

export function readEvidencedEvent({ sequence, subject, body }: EvidenceEvent, index: number): Read {
  const name = `Event ${index + 1} (sequence ${sequence})`;
  try {
    const { type, time, actor, data, subject: jobId } = checkedEnvelope(JSON.parse(body));
    const fault = subject.includes(`.${jobId}.`) ? null : `${name} says that it is about ${jobId}.`;
    const members = typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
    return { event: { sequence, type, time, actor, data: members }, fault };
  } catch {
    return { event: null, fault: `${name} cannot be read as an event.` };
  }
}
