import { expect } from "chai";
import { type AccessSettings, createAccess } from "../../src/access/access.ts";
import { whyNotToStart } from "../../src/access/auth-mode.ts";
import type { KeyRing } from "../../src/access/key-ring.ts";
import { newKey, ringOf } from "../support/keys.ts";

const settings: AccessSettings = {
  mode: "auto",
  host: "127.0.0.1",
  rateLimit: null,
  mailFrom: "Waybill <waybill@example.org>",
};
const open = (ring: KeyRing, overrides: Partial<AccessSettings> = {}) =>
  createAccess(ring, { ...settings, ...overrides });
const outcome = (ring: KeyRing, authorization: string | undefined, overrides: Partial<AccessSettings> = {}) =>
  open(ring, overrides).admit(authorization, "jobs:read").outcome;

describe("A caller that is admitted", () => {
  const key = newKey();
  const revoked = newKey({ sha256: null, revokedAt: "2026-11-21T09:00:00.000Z" });
  const ring = ringOf([key.record, revoked.record]);

  it("is any program on this machine, in the default tenant, until the first key is created", () => {
    const admission = open(ringOf([])).admit(undefined, "jobs:write");
    expect(admission).to.deep.include({ outcome: "admitted", rate: null });
    expect(admission).to.have.nested.include({ "caller.tenant": "default", "caller.actor": "anonymous" });
    expect(outcome(ring, undefined)).to.equal("key-missing");
  });

  it("still needs a key after the last key is revoked", () => {
    expect(outcome(ringOf([revoked.record]), undefined)).to.equal("key-missing");
    expect(outcome(ringOf([revoked.record]), `Bearer ${revoked.text}`)).to.equal("key-invalid");
  });

  for (const host of ["0.0.0.0", "::", "10.0.0.7", "127.0.0.1.example.com"]) {
    it(`needs a key where others can call ${host}, which is not started without one`, () => {
      expect(outcome(ringOf([]), undefined, { host })).to.equal("key-missing");
      expect(whyNotToStart("auto", host, ringOf([]))).to.match(/no API key.*waybill keys create --tenant default/s);
      expect(whyNotToStart("auto", host, ringOf([revoked.record]))).to.be.a("string");
      expect(whyNotToStart("auto", host, ring)).to.equal(null);
    });
  }

  for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost"]) {
    it(`may be any program on ${host}`, () => {
      expect(outcome(ringOf([]), undefined, { host })).to.equal("admitted");
      expect(whyNotToStart("auto", host, ringOf([]))).to.equal(null);
    });
  }

  it("is no page of another site, while no key is needed", () => {
    const from = (host: string | undefined, method = "GET", site?: string, overrides = {}) =>
      open(ringOf([]), { publicName: "mail.example.org", ...overrides }).admit(undefined, "jobs:write", {
        method,
        host,
        site,
      }).outcome;
    for (const host of [
      "evil.example:3000",
      "127.0.0.1.evil.example",
      "10.0.0.7",
      "localhost.evil.example",
      "[::2]:3000",
    ])
      expect(from(host), host).to.equal("foreign-page");
    for (const host of [
      "localhost:3000",
      "LOCALHOST",
      "127.0.0.1:3000",
      "[::1]:3000",
      "a.localhost",
      "mail.example.org",
      undefined,
    ])
      expect(from(host), host).to.equal("admitted");
    expect(from("localhost", "POST", "cross-site")).to.equal("foreign-page");
    expect(from("localhost", "GET", "cross-site")).to.equal("admitted");
    expect(from("localhost", "POST", "same-origin")).to.equal("admitted");
    expect(from("evil.example", "POST", "cross-site", { mode: "off" })).to.equal("admitted");
    const named = open(ring).admit(`Bearer ${key.text}`, "jobs:read", {
      method: "GET",
      host: "waybill.example",
      site: undefined,
    });
    expect(named.outcome).to.equal("admitted");
  });

  it("is asked for a key before there is any with AUTH=required, and never with AUTH=off", () => {
    expect(outcome(ringOf([]), undefined, { mode: "required" })).to.equal("key-missing");
    expect(outcome(ring, undefined, { mode: "off" })).to.equal("admitted");
  });

  it("is named by the key, and in its tenant", () => {
    const admission = open(ring).admit(`bearer  ${key.text}`, "jobs:read");
    expect(admission).to.have.nested.include({ "caller.tenant": "acme", "caller.actor": `key:${key.record.id}` });
  });

  for (const [what, header] of [
    ["nothing", ""],
    ["another scheme", `Basic ${key.text}`],
    ["no scheme", key.text],
    ["a key that was never created", `Bearer ${newKey().text}`],
    ["a revoked key", `Bearer ${revoked.text}`],
    ["a key and more", `Bearer ${key.text} ${key.text}`],
    ["half a key", `Bearer ${key.text.slice(0, -1)}`],
    ["the id of a key with another secret", `Bearer ${newKey().text.replace(/_[^_]+_/, `_${key.record.id}_`)}`],
    ["something huge", `Bearer ${"a".repeat(16_000)}`],
    ["characters of no key", "Bearer \u0000ключ"],
  ] as const) {
    it(`is none with ${what}`, () => {
      expect(open(ring).admit(header, "jobs:read")).to.deep.equal({ outcome: "key-invalid" });
    });
  }

  it("may do what its key says, and each scope stands for itself", () => {
    const admin = newKey({ scopes: ["admin"] });
    const access = open(ringOf([key.record, admin.record]));
    expect(access.admit(`Bearer ${key.text}`, "events:read").outcome).to.equal("admitted");
    expect(access.admit(`Bearer ${key.text}`, "admin")).to.deep.include({ outcome: "scope-missing", scope: "admin" });
    expect(access.admit(`Bearer ${admin.text}`, "jobs:read")).to.deep.include({ outcome: "scope-missing" });
  });
});

describe("An instance that cannot reach NATS", () => {
  const key = newKey();

  it("goes on with the keys that it knows, and cannot say about others", () => {
    const ring = ringOf([key.record], { ageMs: 60_000 });
    expect(outcome(ring, `Bearer ${key.text}`)).to.equal("admitted");
    expect(outcome(ring, `Bearer ${newKey().text}`)).to.equal("keys-unavailable");
    expect(outcome(ring, undefined)).to.equal("key-missing");
  });

  it("admits no caller after five minutes, since a key may have been revoked", () => {
    const ring = ringOf([key.record], { ageMs: 301_000 });
    expect(outcome(ring, `Bearer ${key.text}`)).to.equal("keys-unavailable");
    expect(outcome(ring, undefined)).to.equal("keys-unavailable");
  });

  it("stays open to this machine where it never knew of a key", () => {
    expect(outcome(ringOf([], { ageMs: 301_000 }), undefined)).to.equal("admitted");
  });
});

describe("The senders of a caller", () => {
  const key = newKey();
  const rules = { acme: { senders: ["acme.example"], dailyRecipients: 7, approvalAbove: null } };
  const limitsOf = (ring: KeyRing, authorization?: string) => {
    const admission = open(ring).admit(authorization, "jobs:read");
    return admission.outcome === "admitted" ? admission.caller.limits : null;
  };

  it("are any without keys, and MAIL_FROM alone for a tenant without rules", () => {
    expect(limitsOf(ringOf([]))).to.deep.equal({ senders: null, dailyRecipients: null, approvalAbove: null });
    const ofKey = limitsOf(ringOf([key.record]), `Bearer ${key.text}`);
    expect(ofKey).to.deep.equal({ senders: ["waybill@example.org"], dailyRecipients: null, approvalAbove: null });
  });

  it("are what an operator has allowed the tenant", () => {
    const limits = limitsOf(ringOf([key.record], { rules }), `Bearer ${key.text}`);
    expect(limits).to.deep.equal({
      senders: ["waybill@example.org", "acme.example"],
      dailyRecipients: 7,
      approvalAbove: null,
    });
  });
});

describe("A rate limit", () => {
  it("is one for each key, and refuses before it looks at scopes", () => {
    const [one, other] = [newKey(), newKey()];
    const access = open(ringOf([one.record, other.record]), { rateLimit: 2 });
    const ask = ({ text }: typeof one, scope: "jobs:read" | "admin" = "jobs:read") =>
      access.admit(`Bearer ${text}`, scope);
    expect(ask(one)).to.have.nested.include({ outcome: "admitted", "rate.limit": 2, "rate.left": 1 });
    expect(ask(one, "admin")).to.have.nested.include({ outcome: "scope-missing", "rate.left": 0 });
    expect(ask(one, "admin")).to.include({ outcome: "rate-limited", retryAfterSeconds: 30 });
    expect(ask(other).outcome).to.equal("admitted");
  });
});
