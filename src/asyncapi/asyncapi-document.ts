import type { TSchema } from "typebox";
import { encodeEnvelope, envelopeContentType } from "../event-log/encode-envelope.ts";
import { alertsRef, type JobRef, logRef, serviceTenant, type WaybillEvent } from "../event-log/event-log.ts";
import { channelOf, isOfService, streamFilter, streamName } from "../event-log/subjects.ts";
import { cloudEvent } from "../schemas/cloud-event.ts";
import type { EventChannel } from "../schemas/event-fields.ts";
import { type EventType, events, eventTypes } from "../schemas/events.ts";
import { pastVersions } from "../schemas/upcast.ts";

const description = (stream: string, filter: string) => `The event log of Waybill, for other services to follow.

The stream \`${stream}\` of NATS JetStream (subjects \`${filter}\`) holds every event forever, in one order; no event is ever changed or
removed. One message is one event: a CloudEvent in structured JSON. \`Nats-Msg-Id\` is the event's id.

A message may be delivered twice, so identify events by \`id\` (or by their sequence in the stream). Of a recipient's outcomes within a run the first
final one counts. Ignore types and versions that you do not know. A new version of a type has a new \`dataschema\`; events written
before keep their version, so this document also describes every past version, under a name that ends with its number.

No event contains an address, a subject or a body: an event identifies a recipient by its index in the job.`;

const ofJobs = "Events of one job of one tenant.";
const ofService = `Events of the service as a whole: the tenant is \`${serviceTenant}\`, a name that no tenant can have.`;

/** The channels of the log. */
const channels = {
  job: { address: "job", title: "Decisions about the job", about: ofJobs },
  queue: { address: "queue.{lane}", title: "Turns: the job may run now", about: ofJobs },
  recipients: { address: "recipients", title: "Outcomes of the recipients", about: ofJobs },
  notify: { address: "notify", title: "Notifications of the job's end", about: ofJobs },
  alert: { address: "alert", title: "Alerts", about: ofService },
  seal: { address: "seal", title: "Seals of the log", about: ofService },
  pass: { address: "pass", title: "Messages that an operator has passed by", about: ofService },
} as const satisfies Record<EventChannel, object>;

const parameters = {
  tenant: { description: "Letters, digits, `_` and `-`." },
  jobId: { description: "The id of the job." },
  lane: {
    description:
      "`high`, `normal` or `low`; then, except for mailings, `.` and the kind of job; then `.crowd` if other jobs of the tenant already wait.",
  },
};

/**
 * The AsyncAPI document of a log whose streams and subjects begin with this prefix, derived from the same tables as the
 * log itself.
 */
export function asyncApiDocument(prefix: string): object {
  const stream = streamName(prefix, "JOBS");
  const filter = streamFilter(prefix, "JOBS");
  const names = Object.keys(channels) as EventChannel[];
  return {
    asyncapi: "3.1.0",
    info: {
      title: "Waybill events",
      version: "1",
      description: description(stream, filter),
      license: { name: "MIT" },
    },
    defaultContentType: envelopeContentType,
    channels: Object.fromEntries(names.map((name) => [name, toChannel(name, filter, ofChannel(name))])),
    operations: Object.fromEntries(names.map((name) => [`append-${name}`, toOperation(name)])),
    components: { messages: Object.fromEntries(eventTypes.flatMap(messagesOf)) },
  };
}

const ofChannel = (name: EventChannel): readonly EventType[] =>
  eventTypes.filter((type) => events[type].channel === name);

function toChannel(name: EventChannel, filter: string, types: readonly EventType[]) {
  const { address, title, about } = channels[name];
  const { lane, ...others } = parameters;
  const messages = types.flatMap((type) => messagesOf(type).map(([message]) => message));
  return {
    address: `${filter.replace(">", "{tenant}.{jobId}")}.${address}`,
    title,
    description: about,
    parameters: name === "queue" ? { ...others, lane } : others,
    messages: Object.fromEntries(messages.map((message) => [message, { $ref: `#/components/messages/${message}` }])),
    bindings: { nats: {} },
  };
}

/** Waybill's own operations from AsyncAPI's view: a reader of the document receives. */
const toOperation = (name: EventChannel) => ({
  action: "send",
  channel: { $ref: `#/channels/${name}` },
  summary: channels[name].title,
});

const job: JobRef = { tenant: "acme", jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f" };

/**
 * Every version of a type, each with its name in the document; the newest one, with an example, has the name of the
 * type.
 */
function messagesOf(type: EventType): readonly (readonly [string, object])[] {
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

/** Encoded by the code that writes the log, and so checked against the schemas. */
function exampleOf(type: EventType) {
  // Of the type that the table declares.
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
