import { expect } from "chai";
import { decodeEntry } from "../../src/event-log/decode-entry.ts";
import { encodeEntry } from "../../src/event-log/encode-entry.ts";
import { alertsRef, type JobRef, type LogEvent, type NewEvent } from "../../src/event-log/event-log.ts";
import { UndecodableEvent } from "../../src/event-log/log-failures.ts";
import type { SubjectParts } from "../../src/event-log/subjects.ts";
import { alertRaised, caused, job, jobCancelled, jobCreated, now, recipientSent } from "../support/examples.ts";

const place = { ...job, channel: "job" } as const;
const encodeEnvelope = (ref: JobRef, event: NewEvent): Uint8Array => encodeEntry(ref, [event]);
const decodeEnvelope = (of: SubjectParts, sequence: number, bytes: Uint8Array): LogEvent | undefined =>
  decodeEntry(of, sequence, bytes)[0];
const cancelled = caused("cancel-1", jobCancelled({ reason: "wrong list" }), {
  actor: "key:42",
  correlationId: "request-7",
  causationId: "created-1",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
});

const messageOf = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes))[0];
const bytesOf = (...messages: unknown[]) => new TextEncoder().encode(JSON.stringify(messages));
/** The message of a cancel with some of its attributes changed. */
const changed = (attributes: object) => bytesOf({ ...messageOf(encodeEnvelope(job, cancelled)), ...attributes });

describe("an event in its envelope", () => {
  it("is a CloudEvent in structured JSON", () => {
    expect(messageOf(encodeEnvelope(job, cancelled))).to.deep.equal({
      specversion: "1.0",
      id: "cancel-1",
      source: "/waybill",
      type: "JobCancelled",
      subject: job.jobId,
      time: now,
      datacontenttype: "application/json",
      dataschema: "urn:waybill:event:JobCancelled:1",
      actor: "key:42",
      correlationid: "request-7",
      causationid: "created-1",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      data: { reason: "wrong list" },
    });
  });

  it("leaves out a cause that there was not", () => {
    const message = messageOf(encodeEnvelope(job, caused("cancel-1", jobCancelled())));
    expect(message).to.not.have.any.keys("correlationid", "causationid", "traceparent");
  });

  it("comes back with all it went in with", () => {
    expect(decodeEnvelope(place, 17, encodeEnvelope(job, cancelled))).to.deep.equal({
      ...job,
      ...cancelled,
      sequence: 17,
      index: 0,
    });
    const sent = caused("sent-1", recipientSent({ response: "250 2.0.0 Grüße, 世界 \u{1f4e8}" }));
    expect(decodeEnvelope({ ...job, channel: "facts" }, 18, encodeEnvelope(job, sent))).to.deep.equal({
      ...job,
      ...sent,
      sequence: 18,
      index: 0,
    });
  });

  it("does not get in when it could not be read back", () => {
    const broken = jobCreated({ total: -1 });
    expect(() => encodeEnvelope(job, caused("created-1", broken))).to.throw("The JobCreated created-1 cannot be");
    expect(() => encodeEnvelope(job, caused("cancel-1", jobCancelled({}, "yesterday")))).to.throw("cannot be recorded");
    expect(() => encodeEnvelope(job, caused("", jobCancelled()))).to.throw("cannot be recorded");
  });

  it("may carry extensions that came later", () => {
    const traced = changed({ tracestate: "vendor=1" });
    expect(decodeEnvelope(place, 17, traced)).to.deep.include({ id: "cancel-1", event: cancelled.event });
  });
});

describe("an entry of several events", () => {
  const sent = caused("sent-1", recipientSent());
  const entry = [sent, caused("sent-2", recipientSent({ recipient: 1 })), cancelled] as const;

  it("comes back whole and in order, facts beside the decision that they belong to", () => {
    const decoded = decodeEntry(place, 17, encodeEntry(job, entry));
    expect(decoded).to.deep.equal(entry.map((event, index) => ({ ...job, ...event, sequence: 17, index })));
  });

  it("is refused where it is too long", () => {
    const many = Array.from({ length: 65 }, (_, recipient) =>
      caused(`sent-${recipient}`, recipientSent({ recipient })),
    );
    expect(() => encodeEntry(job, [sent, ...many.slice(2)])).to.not.throw();
    expect(() => encodeEntry(job, [sent, ...many.slice(1)])).to.throw("An entry of 65 events");
  });
});

describe("the trace of an event", () => {
  for (const traceparent of [undefined, "", "00-abc", 7]) {
    it(`is none where it cannot be read, and the event can: ${JSON.stringify(traceparent)}`, () => {
      const entry = decodeEnvelope(place, 17, changed({ traceparent }));
      expect(entry).to.deep.include({ id: "cancel-1", event: cancelled.event, traceparent: null });
    });
  }
});

describe("an event of the service", () => {
  const raised = caused("alerts/failure-rate/0/AlertRaised", alertRaised(), { actor: "alerts" });

  it("comes back from its own subject", () => {
    const place = { ...alertsRef, channel: "alert" } as const;
    expect(decodeEnvelope(place, 3, encodeEnvelope(alertsRef, raised))).to.deep.equal({
      ...alertsRef,
      ...raised,
      sequence: 3,
      index: 0,
    });
  });

  it("stops a reader under the name of a tenant, as does an event of a job under the service's", () => {
    const asTenant = { tenant: "acme", jobId: alertsRef.jobId, channel: "alert" } as const;
    expect(() => decodeEnvelope(asTenant, 3, encodeEnvelope(alertsRef, raised))).to.throw(UndecodableEvent, "acme");
    const asService = { ...place, tenant: alertsRef.tenant };
    expect(() => decodeEnvelope(asService, 3, encodeEnvelope(job, cancelled))).to.throw(UndecodableEvent, "_service");
  });
});

describe("a message of a type that this release does not know", () => {
  const opened = changed({ type: "JobOpened", dataschema: "urn:waybill:event:JobOpened:3", data: [1, 2, 3] });
  const unknown = { ...job, sequence: 5, index: 0, unknownType: "JobOpened" };

  it("is passed on by the name of its type", () => {
    expect(decodeEnvelope(place, 5, opened)).to.deep.equal(unknown);
  });

  it("is passed on from a channel that this release does not know either", () => {
    expect(decodeEnvelope({ ...job, channel: null }, 5, opened)).to.deep.equal(unknown);
  });
});

describe("a message that cannot be what it claims to be", () => {
  const refusals: Readonly<Record<string, [bytes: Uint8Array, reason: string]>> = {
    "no JSON": [new TextEncoder().encode("not json"), "JSON"],
    "JSON, but no object": [bytesOf(null), "must be object"],
    "a CloudEvent of another specification": [changed({ specversion: "0.3" }), "/specversion"],
    "an event without an id": [changed({ id: undefined }), "'id'"],
    "an event at no instant": [changed({ time: "2026-11-21 09:30" }), "/time"],
    "a known type whose data breaks its schema": [changed({ data: { reason: 7 } }), "/reason must be"],
    "a known type with data that was never released": [changed({ data: { reason: null, by: "Eve" } }), "additional"],
    "a newer version of a known type": [
      changed({ dataschema: "urn:waybill:event:JobCancelled:2" }),
      "knows no JobCancelled with the schema urn:waybill:event:JobCancelled:2",
    ],
    "a type with the schema of another": [
      changed({ dataschema: "urn:waybill:event:JobPaused:1" }),
      "knows no JobCancelled with the schema urn:waybill:event:JobPaused:1",
    ],
    "an event of another job": [changed({ subject: "another-job" }), "is about job another-job"],
    "an event that is in no entry": [
      new TextEncoder().encode(JSON.stringify(messageOf(encodeEnvelope(job, cancelled)))),
      "must be array",
    ],
    "an entry without an event": [bytesOf(), "must NOT have fewer than 1"],
    "an entry of which one event is broken": [
      bytesOf(messageOf(encodeEnvelope(job, cancelled)), { id: "half" }),
      "required property",
    ],
  };
  for (const [what, [bytes, reason]] of Object.entries(refusals)) {
    it(`stops its reader: ${what}`, () => {
      expect(() => decodeEnvelope(place, 17, bytes))
        .to.throw(UndecodableEvent, reason)
        .that.includes({ sequence: 17 });
    });
  }

  it("stops its reader: a decision among the facts", () => {
    const facts = { ...job, channel: "facts" } as const;
    expect(() => decodeEntry(facts, 17, encodeEntry(job, [cancelled]))).to.throw(
      UndecodableEvent,
      "a JobCancelled is on the subject of facts",
    );
  });

  it("stops its reader: a known type on a subject that this release does not know", () => {
    expect(() => decodeEnvelope({ ...job, channel: null }, 17, encodeEnvelope(job, cancelled))).to.throw(
      UndecodableEvent,
      "an unknown channel",
    );
  });
});
