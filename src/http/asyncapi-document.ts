import type { TSchema } from "typebox";
import { encodeEntry, entryContentType } from "../event-log/encode-entry.ts";
import {
  alertsRef,
  type JobRef,
  logRef,
  maxEventsOfEntry,
  serviceTenant,
  type WaybillEvent,
} from "../event-log/event-log.ts";
import { channelOf, isOfService, streamFilter, streamName } from "../event-log/subjects.ts";
import { cloudEvent } from "../schemas/cloud-event.ts";
import type { EventChannel } from "../schemas/event-fields.ts";
import { type EventType, events, eventTypes } from "../schemas/events.ts";
import { pastVersions } from "../schemas/upcast.ts";

const description = (stream: string, filter: string) => `The event log of Waybill, for other services to follow.

The stream \`${stream}\` of NATS JetStream (subjects \`${filter}\`) holds every event forever, in one order; no event is ever changed or
removed. One message is one entry: a JSON array of CloudEvents (1 to ${maxEventsOfEntry}) that were decided or found out together, in order.

A message may be delivered twice, so identify events by \`id\` (or by the sequence of the message and their index in it). Of a recipient's outcomes within a run the first
final one counts. Ignore types and versions that you do not know. A new version of a type has a new \`dataschema\`; events written
before keep their version, so this document also describes every past version, under a name that ends with its number.

No event contains an address, a subject or a body: an event identifies a recipient by its index in the job.`;

const ofJobs = "Events of one job of one tenant.";
const ofMailings = "Events of one mailing of one tenant, in the place of a job: `jobId` is the id of the mailing.";
const ofSchedules = "Events of one schedule of one tenant, in the place of a job: `jobId` is the id of the schedule.";
const ofService = `Events of the service as a whole: the tenant is \`${serviceTenant}\`, a name that no tenant can have.`;

/** The channels of the log. */
const channels = {
  job: { address: null, title: "Decisions about the job, and facts that belong to them", about: ofJobs },
  facts: {
    address: "facts",
    title: "What became of the recipients, and who was told of the end",
    about: `${ofJobs} Those about webhooks can also be of a mailing.`,
  },
  feedback: { address: "feedback", title: "What came back about mails that were sent", about: ofJobs },
  mailing: { address: "mailing", title: "Decisions about the mailing", about: ofMailings },
  schedule: { address: "schedule", title: "Decisions about the schedule", about: ofSchedules },
  alert: { address: "alert", title: "Alerts", about: ofService },
  seal: { address: "seal", title: "Seals of the log", about: ofService },
  archive: { address: "archive", title: "Archived parts of the log", about: ofService },
  throttle: { address: "throttle", title: "Receivers of mail that are slowed down", about: ofService },
  pass: { address: "pass", title: "Messages that an operator has passed by", about: ofService },
} as const satisfies Record<EventChannel, object>;

const parameters = {
  tenant: { description: "Letters, digits, `_` and `-`." },
  jobId: { description: "The id of the job." },
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
    defaultContentType: entryContentType,
    channels: Object.fromEntries(names.map((name) => [name, toChannel(name, filter)])),
    operations: Object.fromEntries(names.map((name) => [`append-${name}`, toOperation(name)])),
    components: {
      messages: Object.fromEntries(names.map((name) => [name, toMessage(name, ofChannel(name))])),
      schemas: Object.fromEntries(eventTypes.flatMap(schemasOf)),
    },
  };
}

/** Facts also stand beside the decision that they belong to. */
const ofChannel = (name: EventChannel): readonly EventType[] =>
  eventTypes.filter((type) => events[type].channel === name || (name === "job" && events[type].channel === "facts"));

function toChannel(name: EventChannel, filter: string) {
  const { address, title, about } = channels[name];
  return {
    address: `${filter.replace(">", "{tenant}.{jobId}")}${address === null ? "" : `.${address}`}`,
    title,
    description: about,
    parameters,
    messages: { [name]: { $ref: `#/components/messages/${name}` } },
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

/** An entry of a channel: one event or more, of these types. */
const toMessage = (name: EventChannel, types: readonly EventType[]) => ({
  name,
  title: channels[name].title,
  contentType: entryContentType,
  headers: {
    type: "object",
    required: ["Nats-Msg-Id"],
    properties: { "Nats-Msg-Id": { type: "string" }, "Content-Type": { const: entryContentType } },
  },
  payload: {
    type: "array",
    minItems: 1,
    maxItems: maxEventsOfEntry,
    items: {
      anyOf: types.flatMap((type) => schemasOf(type).map(([schema]) => ({ $ref: `#/components/schemas/${schema}` }))),
    },
  },
});

/**
 * Every version of a type, each with its name in the document; the newest one, with an example, has the name of the
 * type.
 */
function schemasOf(type: EventType): readonly (readonly [string, object])[] {
  const past = (pastVersions[type] ?? []).map(({ schema }) => schema);
  const newest = past.length + 1;
  return [
    ...past.map((schema, index) => [`${type}.v${index + 1}`, toSchema(type, index + 1, schema)] as const),
    [type, { ...toSchema(type, newest, events[type].schema), examples: [exampleOf(type)] }],
  ];
}

const toSchema = (type: EventType, version: number, data: TSchema) => ({
  ...cloudEvent,
  title: `${type}, version ${version}`,
  properties: {
    ...cloudEvent.properties,
    type: { const: type },
    dataschema: { const: `urn:waybill:event:${type}:${version}` },
    data,
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
  const entry = encodeEntry(ref, [{ id, event, ...cause }]);
  return (JSON.parse(Buffer.from(entry).toString()) as readonly unknown[])[0];
}
