import { checkedBy } from "../schemas/checked-by.ts";
import { type CloudEvent, cloudEvent } from "../schemas/cloud-event.ts";
import { type EventVersion, releasedVersions } from "../schemas/upcast.ts";
import { type JobRef, type LogEntry, type NewEvent, UndecodableEvent, type WaybillEvent } from "./event-log.ts";
import { channelOf, parseSubject, type SubjectParts } from "./subjects.ts";

/** The media type of what encodeEnvelope makes: the structured mode of the NATS binding of CloudEvents. */
export const envelopeContentType = "application/cloudevents+json";

const checkedEnvelope = checkedBy(cloudEvent);

/**
 * One event as one message. Throws where the event breaks its own schema: the log cannot be mended afterwards, so
 * what could not be read back must not get in.
 */
export function encodeEnvelope(job: JobRef, { id, event, actor, correlationId, causationId }: NewEvent): Uint8Array {
  const version = releasedVersions.newest.get(event.type);
  if (version === undefined) throw new Error(`${event.type} is no event that this release writes`);
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
      actor,
      correlationid: correlationId ?? undefined,
      causationid: causationId ?? undefined,
      data: version.read(event.data),
    });
    return Buffer.from(JSON.stringify(envelope));
  } catch (cause) {
    throw new Error(`The ${event.type} ${id} cannot be recorded, its data breaks the schema`, { cause });
  }
}

/**
 * One message as the event it holds, lifted to the newest version of its type. A type that this release does not know
 * comes back as an UnknownEvent. A newer version of a known type does not: to pass over it would make every fold wrong.
 */
export function decodeEnvelope(place: SubjectParts, sequence: number, bytes: Uint8Array): LogEntry {
  const envelope = parse(sequence, bytes);
  const { tenant, jobId, channel } = place;
  if (envelope.subject !== jobId) {
    throw new UndecodableEvent(sequence, `it is about job ${envelope.subject} but stands at job ${jobId}`);
  }
  const version = releasedVersions.byDataschema.get(envelope.dataschema);
  if (version === undefined && !releasedVersions.newest.has(envelope.type)) {
    return { tenant, jobId, sequence, unknownType: envelope.type };
  }
  if (version?.type !== envelope.type) {
    throw new UndecodableEvent(sequence, `this release knows no ${envelope.type} of schema ${envelope.dataschema}`);
  }
  const event = eventOf(sequence, envelope, version.read);
  if (channel !== channelOf(event)) {
    throw new UndecodableEvent(sequence, `a ${event.type} stands on the subject of ${channel ?? "something unknown"}`);
  }
  return {
    tenant,
    jobId,
    sequence,
    channel,
    id: envelope.id,
    event,
    actor: envelope.actor,
    correlationId: envelope.correlationid ?? null,
    causationId: envelope.causationid ?? null,
  };
}

/** One message as it comes from the wire. A subject that is none of the log's is as undecodable as broken data. */
export function decodeMessage(prefix: string, subject: string, sequence: number, bytes: Uint8Array): LogEntry {
  const place = attempt(sequence, () => parseSubject(prefix, subject));
  return decodeEnvelope(place, sequence, bytes);
}

/** The cast of the event is what the compile-time tie between schemas and domain types allows. */
const parse = (sequence: number, bytes: Uint8Array): CloudEvent =>
  attempt(sequence, () => checkedEnvelope(JSON.parse(textOf(bytes))));

const eventOf = (sequence: number, { type, time, data }: CloudEvent, read: EventVersion["read"]): WaybillEvent =>
  attempt(sequence, () => ({ type, at: time, data: read(data) }) as WaybillEvent);

function attempt<Result>(sequence: number, step: () => Result): Result {
  try {
    return step();
  } catch (failure) {
    throw new UndecodableEvent(sequence, failure instanceof Error ? failure.message : String(failure));
  }
}

/** A view, not a copy: Buffer decodes short texts several times faster than TextDecoder. */
const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
