import { expect } from "chai";
import { createAccess } from "../../src/access/access.ts";
import type { KeyRing } from "../../src/access/key-ring.ts";
import { now } from "../support/examples.ts";
import { newKey, ringOf } from "../support/keys.ts";

const open = (ring: KeyRing, mode: "auto" | "required" = "required") =>
  createAccess(ring, { mode, host: "127.0.0.1", rateLimit: null, mailFrom: "waybill@localhost" });

describe("A caller that was admitted", () => {
  const { record } = newKey({ scopes: ["jobs:read"] });
  const actor = `key:${record.id}`;

  it("stays let in as long as the key holds, for what it is good for", () => {
    const access = open(ringOf([record]));
    expect(access.isStillAdmitted(actor, "jobs:read")).to.equal(true);
    expect(access.isStillAdmitted(actor, "events:read")).to.equal(false);
  });

  it("is not once the key is revoked or gone", () => {
    const revoked = { ...record, sha256: null, revokedAt: now };
    expect(open(ringOf([revoked])).isStillAdmitted(actor, "jobs:read")).to.equal(false);
    expect(open(ringOf([])).isStillAdmitted(actor, "jobs:read")).to.equal(false);
  });

  it("is not after the process has learned of no revocations for long", () => {
    expect(open(ringOf([record], { ageMs: 300_001 })).isStillAdmitted(actor, "jobs:read")).to.equal(false);
  });

  it("without a key is let in until keys are asked for", () => {
    expect(open(ringOf([]), "auto").isStillAdmitted("anonymous", "jobs:read")).to.equal(true);
    expect(open(ringOf([record]), "auto").isStillAdmitted("anonymous", "jobs:read")).to.equal(false);
  });
});
