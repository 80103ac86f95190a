import { checkedBy } from "../schemas/checked-by.ts";
import { type CloudEvent, cloudEvent } from "../schemas/cloud-event.ts";
import { releasedVersions } from "../schemas/upcast.ts";
import { type JobRef, maxEventsOfEntry, type NewEntry, type NewEvent } from "./event-log.ts";

/** The media type of an entry: the batch format of CloudEvents in JSON. */
export const entryContentType = "application/cloudevents-batch+json";

const checkedEnvelope = checkedBy(cloudEvent);

/**
 * Encodes an entry as one message, an array of CloudEvents. Throws if an event breaks its own schema: the log cannot be
 * repaired afterwards, so an event that could not be read back must not get in.
 */
export function encodeEntry(job: JobRef, entry: NewEntry): Uint8Array {
  if (entry.length > maxEventsOfEntry) throw new Error(`An entry of ${entry.length} events is too long for the log`);
  return Buffer.from(JSON.stringify(entry.map((event) => toEnvelope(job, event))));
}

/** Throws if the event breaks its own schema. */
export function toEnvelope(job: JobRef, { id, event, ...cause }: NewEvent): CloudEvent {
  const version = releasedVersions.newest.get(event.type);
  if (version === undefined) throw new Error(`${event.type} is not an event type that this release writes`);
  try {
    return checkedEnvelope({
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
  } catch (cause) {
    throw new Error(`The ${event.type} ${id} cannot be recorded: its data breaks the schema`, { cause });
  }
}
