import { checkedBy } from "../schemas/checked-by.ts";
import { type CloudEvent, cloudEvent } from "../schemas/cloud-event.ts";
import { type EventVersion, releasedVersions } from "../schemas/upcast.ts";
import { type LogEntry, serviceTenant, UndecodableEvent, type WaybillEvent } from "./event-log.ts";
import { channelOf, isOfService, parseSubject, type SubjectParts } from "./subjects.ts";
import { readTraceparent } from "./traceparent.ts";

const checkedEnvelope = checkedBy(cloudEvent);

/**
 * Decodes one message into its event, upcast to the newest version of its type. A type that this release does not know
 * becomes an UnknownEvent. A newer version of a known type does not: to skip it would make every fold wrong.
 */
export function decodeEnvelope(place: SubjectParts, sequence: number, bytes: Uint8Array): LogEntry {
  const envelope = parse(sequence, bytes);
  const { tenant, jobId, channel } = place;
  if (envelope.subject !== jobId) {
    throw new UndecodableEvent(sequence, `it is about job ${envelope.subject} but is on the subject of job ${jobId}`);
  }
  const version = releasedVersions.byDataschema.get(envelope.dataschema);
  if (version === undefined && !releasedVersions.newest.has(envelope.type)) {
    return { tenant, jobId, sequence, unknownType: envelope.type };
  }
  if (version?.type !== envelope.type) {
    throw new UndecodableEvent(
      sequence,
      `this release knows no ${envelope.type} with the schema ${envelope.dataschema}`,
      version === undefined,
    );
  }
  const event = eventOf(sequence, envelope, version);
  if (channel !== channelOf(event)) {
    throw new UndecodableEvent(sequence, `a ${event.type} is on the subject of ${channel ?? "an unknown channel"}`);
  }
  if (isOfService(channel) !== (tenant === serviceTenant)) {
    throw new UndecodableEvent(sequence, `a ${event.type} is on the subject of the tenant ${tenant}`);
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
    traceparent: readTraceparent(envelope.traceparent),
  };
}

/**
 * Decodes one message as it comes from the wire. A subject that does not belong to the log is as undecodable as broken
 * data.
 */
export function decodeMessage(prefix: string, subject: string, sequence: number, bytes: Uint8Array): LogEntry {
  return decodeEnvelope(placeIn(prefix, subject, sequence), sequence, bytes);
}

const placeIn = (prefix: string, subject: string, sequence: number): SubjectParts => {
  try {
    return parseSubject(prefix, subject);
  } catch (failure) {
    throw undecodable(sequence, failure);
  }
};

const parse = (sequence: number, bytes: Uint8Array): CloudEvent => {
  try {
    return checkedEnvelope(JSON.parse(textOf(bytes)));
  } catch (failure) {
    throw undecodable(sequence, failure);
  }
};

/** The compile-time check that schemas and domain types agree makes this cast safe. */
const eventOf = (sequence: number, { time, data }: CloudEvent, { type, read }: EventVersion): WaybillEvent => {
  try {
    return { type, at: time, data: read(data) } as WaybillEvent;
  } catch (failure) {
    throw undecodable(sequence, failure);
  }
};

const undecodable = (sequence: number, failure: unknown): UndecodableEvent =>
  new UndecodableEvent(sequence, failure instanceof Error ? failure.message : String(failure));

/** A view, not a copy: Buffer decodes short texts several times faster than TextDecoder. */
const textOf = (bytes: Uint8Array): string => {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString("utf8");
};
