import { createHash } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { type LogMessage, leafHashOf } from "../../src/event-log/log-message.ts";

const message: LogMessage = {
  sequence: 7,
  storedAt: "1763716183123456789",
  subject: "jobs.acme.0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f",
  body: Buffer.from('{"specversion":"1.0"}'),
};

describe("The leaf of a message of the log", () => {
  it("is what the description says, so that anyone can compute it", () => {
    const text = `\0waybill.log.v1\n7\n1763716183123456789\njobs.acme.0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f\n{"specversion":"1.0"}`;
    expect(leafHashOf(message).toString("hex")).to.equal(createHash("sha256").update(text).digest("hex"));
  });

  it("is another one for any other place, time, subject or body", () => {
    const others: Partial<LogMessage>[] = [
      { sequence: 8 },
      { storedAt: "1763716183123456788" },
      { subject: "jobs.shop.0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f" },
      { body: Buffer.from('{"specversion":"1.1"}') },
    ];
    const hashes = [message, ...others.map((other) => ({ ...message, ...other }))].map((one) =>
      leafHashOf(one).toString("hex"),
    );
    expect(new Set(hashes)).to.have.length(hashes.length);
  });

  it("holds any bytes, of any length", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 0, max: 300_000 }), (bytes, length) => {
        const body = Buffer.concat([bytes, Buffer.alloc(length)]);
        const head = `\0waybill.log.v1\n7\n1763716183123456789\n${message.subject}\n`;
        const expected = createHash("sha256").update(head).update(body).digest("hex");
        expect(leafHashOf({ ...message, body }).toString("hex")).to.equal(expected);
      }),
      { numRuns: 30 },
    );
  });
});
