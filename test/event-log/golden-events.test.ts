import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { decodeEntry } from "../../src/event-log/decode-entry.ts";
import { encodeEntry } from "../../src/event-log/encode-entry.ts";
import { logRef, type StoredEvent, serviceTenant, type WaybillEvent } from "../../src/event-log/event-log.ts";
import { channelOf, isOfService } from "../../src/event-log/subjects.ts";
import { events, eventTypes } from "../../src/schemas/events.ts";
import { releasedVersions } from "../../src/schemas/upcast.ts";

const golden = new URL("../golden/", import.meta.url);

/** Records the example of every type that has no recorded event yet, as the log would store it. */
function recordNewTypes() {
  for (const type of eventTypes) {
    const folder = new URL(`${type}/`, golden);
    if (existsSync(folder)) continue;
    const event = { type, at: "2026-11-21T09:30:00.000Z", data: events[type].example } as WaybillEvent;
    const { jobId } = isOfService(channelOf(event)) ? logRef : { jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f" };
    const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
    const bytes = encodeEntry({ tenant: "default", jobId }, [{ ...cause, id: `${jobId}:${type}`, event }]);
    mkdirSync(folder);
    writeFileSync(new URL("v1.json", folder), `${JSON.stringify(JSON.parse(`${bytes}`)[0], null, 2)}\n`);
  }
}

if (process.env["WRITE_DOCS"] === "1") recordNewTypes();

/** The message as it was recorded when its version was released. */
const recorded = (type: string, file: string) => JSON.parse(readFileSync(new URL(`${type}/${file}`, golden), "utf8"));

function decode(message: { subject: string; data: object }): StoredEvent {
  // Its type and its data stand where an event has them, and nothing else is asked of it.
  const channel = channelOf(message as unknown as WaybillEvent);
  const tenant = isOfService(channel) ? serviceTenant : "default";
  const place = { tenant, jobId: message.subject, channel };
  return decodeEntry(place, 1, Buffer.from(JSON.stringify([message])))[0] as StoredEvent;
}

describe("every event ever recorded", () => {
  it("has an example of each version of its type that was released", () => {
    const examples = readdirSync(golden)
      .flatMap((type) => readdirSync(new URL(`${type}/`, golden)).map((file) => `${type}/${file}`))
      .sort();
    const released = [...releasedVersions.byDataschema.keys()]
      .map((dataschema) => dataschema.replace(/^urn:waybill:event:(\w+):(\d+)$/, "$1/v$2.json"))
      .sort();
    const how = "WRITE_DOCS=1 npx mocha test/event-log/golden-events.test.ts records that of a new type";
    expect(examples, how).to.deep.equal(released);
  });

  for (const type of readdirSync(golden)) {
    for (const file of readdirSync(new URL(`${type}/`, golden))) {
      it(`decodes for ever: ${type} ${file}`, () => {
        const message = recorded(type, file);
        const { id, event, actor, correlationId, causationId } = decode(message);
        expect({ id, actor, type: event.type, at: event.at }).to.deep.equal({
          id: message.id,
          actor: message.actor,
          type,
          at: message.time,
        });
        expect([correlationId, causationId]).to.deep.equal([
          message.correlationid ?? null,
          message.causationid ?? null,
        ]);
      });
    }
  }

  for (const { type, dataschema } of releasedVersions.newest.values()) {
    it(`is written as it was recorded while its version is the newest: ${type}`, () => {
      const message = recorded(type, `v${dataschema.split(":").at(-1)}.json`);
      const stored = decode(message);
      expect(JSON.parse(Buffer.from(encodeEntry(stored, [stored])).toString())[0]).to.deep.equal(message);
    });
  }
});
