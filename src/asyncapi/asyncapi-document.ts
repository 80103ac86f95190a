import { envelopeContentType } from "../event-log/encode-envelope.ts";
import { serviceTenant } from "../event-log/event-log.ts";
import { streamFilter, streamName } from "../event-log/subjects.ts";
import type { EventChannel } from "../schemas/event-fields.ts";
import { type EventType, events, eventTypes } from "../schemas/events.ts";
import { messagesOf } from "./messages.ts";

const description = (stream: string, filter: string) => `What happened, as other services can follow it: the log itself.

The stream \`${stream}\` of NATS JetStream (subjects \`${filter}\`) holds every event for ever, in one order; nothing in it is changed or
removed. One message is one event: a CloudEvent in structured JSON. \`Nats-Msg-Id\` is the event's id.

A message may come twice, so know events by \`id\` (or by their sequence in the stream). Of a recipient's outcomes within a run the first
final one counts. Types and versions that you do not know may come: leave them aside. A new version of a type has a new \`dataschema\`;
what was written before stays as it was, so every past version is described here too, under a name that ends with its number.

No address, subject or body is in any event: recipients are named by their index in the job.`;

const ofJobs = "Of one job of one tenant.";
const ofService = `Of the service as a whole: the tenant is \`${serviceTenant}\`, which none can be called.`;

/** The channels of the log. */
const channels = {
  job: { address: "job", title: "Decisions about the job", about: ofJobs },
  queue: { address: "queue.{lane}", title: "Turns: the job may run now", about: ofJobs },
  recipients: { address: "recipients", title: "What happened to the recipients", about: ofJobs },
  notify: { address: "notify", title: "Who was told of the job's end", about: ofJobs },
  alert: { address: "alert", title: "Alerts", about: ofService },
  seal: { address: "seal", title: "Seals of the log", about: ofService },
  pass: { address: "pass", title: "Messages that an operator has passed by", about: ofService },
} as const satisfies Record<EventChannel, object>;

const parameters = {
  tenant: { description: "Letters, digits, `_` and `-`." },
  jobId: { description: "The id of the job." },
  lane: {
    description:
      "`high`, `normal` or `low`; then, but for mailings, `.` and the kind of job; then `.crowd` where others of the tenant wait already.",
  },
};

/** The AsyncAPI document of a log whose streams and subjects begin with this prefix, made from what the log is held to. */
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

/** What Waybill itself does, as AsyncAPI sees it: who reads the document receives. */
const toOperation = (name: EventChannel) => ({
  action: "send",
  channel: { $ref: `#/channels/${name}` },
  summary: channels[name].title,
});
