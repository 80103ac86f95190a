import type { CloudEvent } from "../schemas/cloud-event.ts";
import { releasedVersions } from "../schemas/upcast.ts";
import { type Channel, type LogEvent, type Place, serviceTenant, type WaybillEvent } from "./event-log.ts";
import { UndecodableEvent } from "./log-failures.ts";
import { readEnvelopes } from "./log-message.ts";
import { channelOf, isOfService, parseSubject, type SubjectParts } from "./subjects.ts";
import { readTraceparent } from "./traceparent.ts";

/**
 * Decodes one message into the events of its entry, upcast to the newest version of their types. A type that this release
 * does not know becomes an UnknownEvent. A newer version of a known type does not: to skip it would make every fold wrong.
 */
export function decodeEntry(subject: SubjectParts, sequence: number, bytes: Uint8Array): readonly LogEvent[] {
  const envelopes = reading(sequence, () => readEnvelopes(bytes));
  return envelopes.map((envelope, index) => decodeEnvelope(subject, { sequence, index }, envelope));
}

/**
 * Decodes one message as it comes from the wire. A subject that does not belong to the log is as undecodable as broken
 * data.
 */
export function decodeMessage(
  prefix: string,
  subject: string,
  sequence: number,
  bytes: Uint8Array,
): readonly LogEvent[] {
  const parts = reading(sequence, () => parseSubject(prefix, subject));
  return decodeEntry(parts, sequence, bytes);
}

/** Throws UndecodableEvent. */
export function decodeEnvelope(
  { tenant, jobId, channel }: SubjectParts,
  { sequence, index }: Place,
  envelope: CloudEvent,
): LogEvent {
  if (envelope.subject !== jobId) {
    throw new UndecodableEvent(sequence, `it is about job ${envelope.subject} but is on the subject of job ${jobId}`);
  }
  const version = releasedVersions.byDataschema.get(envelope.dataschema);
  if (version === undefined && !releasedVersions.newest.has(envelope.type)) {
    return { tenant, jobId, sequence, index, unknownType: envelope.type };
  }
  if (version?.type !== envelope.type) {
    throw new UndecodableEvent(
      sequence,
      `this release knows no ${envelope.type} with the schema ${envelope.dataschema}`,
      version === undefined,
    );
  }
  const { type, read } = version;
  // The compile-time check that schemas and domain types agree makes this cast safe.
  const event = reading(sequence, () => ({ type, at: envelope.time, data: read(envelope.data) }) as WaybillEvent);
  if (channel === null || !mayStandOn(channel, event)) {
    throw new UndecodableEvent(sequence, `a ${event.type} is on the subject of ${channel ?? "an unknown channel"}`);
  }
  if (isOfService(channel) !== (tenant === serviceTenant)) {
    throw new UndecodableEvent(sequence, `a ${event.type} is on the subject of the tenant ${tenant}`);
  }
  return {
    tenant,
    jobId,
    sequence,
    index,
    id: envelope.id,
    event,
    actor: envelope.actor,
    correlationId: envelope.correlationid ?? null,
    causationId: envelope.causationid ?? null,
    traceparent: readTraceparent(envelope.traceparent),
  };
}

/** Facts also stand beside the decisions that they belong to. */
const mayStandOn = (channel: Channel, event: WaybillEvent): boolean =>
  channelOf(event) === channel || (channel === "job" && channelOf(event) === "facts");

/** Whatever cannot be read makes the message undecodable. */
function reading<Part>(sequence: number, read: () => Part): Part {
  try {
    return read();
  } catch (failure) {
    throw new UndecodableEvent(sequence, failure instanceof Error ? failure.message : String(failure));
  }
}
