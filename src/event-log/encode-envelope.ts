import { checkedBy } from "../schemas/checked-by.ts";
import { cloudEvent } from "../schemas/cloud-event.ts";
import { releasedVersions } from "../schemas/upcast.ts";
import type { JobRef, NewEvent } from "./event-log.ts";

/** The media type of the output of encodeEnvelope: the structured mode of the NATS binding of CloudEvents. */
export const envelopeContentType = "application/cloudevents+json";

const checkedEnvelope = checkedBy(cloudEvent);

/**
 * Encodes one event as one message. Throws if the event breaks its own schema: the log cannot be repaired afterwards,
 * so an event that could not be read back must not get in.
 */
export function encodeEnvelope(job: JobRef, { id, event, ...cause }: NewEvent): Uint8Array {
  const version = releasedVersions.newest.get(event.type);
  if (version === undefined) throw new Error(`${event.type} is not an event type that this release writes`);
  try {
    const envelope = checkedEnvelope({
      specversion: "1.0",
      id,
      source: "/waybill",
      type: event.type,
      subject: job.jobId,
      time: event.at,
      datacontenttype: "application/json",
      dataschema: version.dataschema,
      actor: cause.actor,
      correlationid: cause.correlationId ?? undefined,
      causationid: cause.causationId ?? undefined,
      traceparent: cause.traceparent ?? undefined,
      data: version.read(event.data),
    });
    return Buffer.from(JSON.stringify(envelope));
  } catch (cause) {
    throw new Error(`The ${event.type} ${id} cannot be recorded: its data breaks the schema`, { cause });
  }
}
