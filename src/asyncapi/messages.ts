import type { TSchema } from "typebox";
import { encodeEnvelope, envelopeContentType } from "../event-log/encode-envelope.ts";
import { alertsRef, type JobRef, logRef, type WaybillEvent } from "../event-log/event-log.ts";
import { channelOf, isOfService } from "../event-log/subjects.ts";
import { cloudEvent } from "../schemas/cloud-event.ts";
import { type EventType, events } from "../schemas/events.ts";
import { pastVersions } from "../schemas/upcast.ts";

const job: JobRef = { tenant: "acme", jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f" };

/** Every version of a type, each with its name in the document; the newest one, with an example, has the type's own. */
export function messagesOf(type: EventType): readonly (readonly [string, object])[] {
  const past = (pastVersions[type] ?? []).map(({ schema }) => schema);
  const newest = past.length + 1;
  return [
    ...past.map((schema, index) => [`${type}.v${index + 1}`, toMessage(type, index + 1, schema)] as const),
    [type, { ...toMessage(type, newest, events[type].schema), examples: [exampleOf(type)] }],
  ];
}

const toMessage = (type: EventType, version: number, data: TSchema) => ({
  name: type,
  title: `${type}, version ${version}`,
  contentType: envelopeContentType,
  headers: {
    type: "object",
    required: ["Nats-Msg-Id"],
    properties: { "Nats-Msg-Id": { type: "string" }, "Content-Type": { const: envelopeContentType } },
  },
  payload: {
    ...cloudEvent,
    properties: {
      ...cloudEvent.properties,
      type: { const: type },
      dataschema: { const: `urn:waybill:event:${type}:${version}` },
      data,
    },
  },
});

/** Made by what writes the log, and so held to the schemas. */
function exampleOf(type: EventType) {
  // Of the type that the table holds it to.
  const event = { type, at: "2026-11-21T09:30:00.000Z", data: events[type].example } as WaybillEvent;
  const channel = channelOf(event);
  const ref = !isOfService(channel) ? job : channel === "alert" ? alertsRef : logRef;
  const id = `${ref.jobId}/${type}`;
  const cause = {
    actor: isOfService(channel) ? "service" : "key:k1",
    correlationId: "order-17",
    causationId: null,
    traceparent: null,
  };
  const bytes = encodeEnvelope(ref, { id, event, ...cause });
  return {
    headers: { "Nats-Msg-Id": id, "Content-Type": envelopeContentType },
    payload: JSON.parse(Buffer.from(bytes).toString()) as unknown,
  };
}
