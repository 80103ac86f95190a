import { expect } from "chai";
import { type AccessSettings, createAccess } from "../../src/access/access.ts";
import { whyNotToStart } from "../../src/access/auth-mode.ts";
import type { KeyRing } from "../../src/access/key-ring.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { newKey, ringOf } from "../support/keys.ts";

const settings: AccessSettings = {
  mode: "auto",
  host: "127.0.0.1",
  rateLimit: null,
  mailFrom: "Waybill <waybill@example.org>",
};
const open = (ring: KeyRing, overrides: Partial<AccessSettings> = {}) =>
  createAccess(ring, { ...settings, ...overrides });
const outcome = async (ring: KeyRing, authorization: string | undefined, overrides: Partial<AccessSettings> = {}) =>
  (await open(ring, overrides).admit(authorization, "jobs:read")).outcome;

describe("A caller that is admitted", () => {
  const key = newKey();
  const revoked = newKey({ sha256: null, revokedAt: "2026-11-21T09:00:00.000Z" });
  const ring = ringOf([key.record, revoked.record]);

  it("is any program on this machine, in the default tenant, until the first key is created", async () => {
    const admission = await open(ringOf([])).admit(undefined, "jobs:write");
    expect(admission).to.deep.include({ outcome: "admitted", rate: null });
    expect(admission).to.have.nested.include({ "caller.tenant": "default", "caller.actor": "anonymous" });
    expect(await outcome(ring, undefined)).to.equal("key-missing");
  });

  it("still needs a key after the last key is revoked", async () => {
    expect(await outcome(ringOf([revoked.record]), undefined)).to.equal("key-missing");
    expect(await outcome(ringOf([revoked.record]), `Bearer ${revoked.text}`)).to.equal("key-invalid");
  });

  for (const host of ["0.0.0.0", "::", "10.0.0.7", "127.0.0.1.example.com"]) {
    it(`needs a key where others can call ${host}, which is not started without one`, async () => {
      expect(await outcome(ringOf([]), undefined, { host })).to.equal("key-missing");
      expect(whyNotToStart("auto", host, ringOf([]))).to.match(/no API key.*waybill keys create --tenant default/s);
      expect(whyNotToStart("auto", host, ringOf([revoked.record]))).to.be.a("string");
      expect(whyNotToStart("auto", host, ring)).to.equal(null);
    });
  }

  for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost"]) {
    it(`may be any program on ${host}`, async () => {
      expect(await outcome(ringOf([]), undefined, { host })).to.equal("admitted");
      expect(whyNotToStart("auto", host, ringOf([]))).to.equal(null);
    });
  }

  it("is no page of another site, while no key is needed", async () => {
    const from = async (host: string | undefined, method = "GET", site?: string, overrides = {}) => {
      const access = open(ringOf([]), overrides);
      return (await access.admit(undefined, "jobs:write", { method, host, site })).outcome;
    };
    for (const host of [
      "evil.example:3000",
      "127.0.0.1.evil.example",
      "10.0.0.7",
      "localhost.evil.example",
      "[::2]:3000",
      // A proxy of this machine passes on what anybody asks by the name in PUBLIC_URL.
      "mail.example.org",
    ])
      expect(await from(host), host).to.equal("foreign-page");
    for (const host of ["localhost:3000", "LOCALHOST", "127.0.0.1:3000", "[::1]:3000", "a.localhost", undefined])
      expect(await from(host), host).to.equal("admitted");
    expect(await from("localhost", "POST", "cross-site")).to.equal("foreign-page");
    expect(await from("localhost", "GET", "cross-site")).to.equal("admitted");
    expect(await from("localhost", "POST", "same-origin")).to.equal("admitted");
    expect(await from("evil.example", "POST", "cross-site", { mode: "off" })).to.equal("admitted");
    const named = await open(ring).admit(`Bearer ${key.text}`, "jobs:read", {
      method: "GET",
      host: "waybill.example",
      site: undefined,
    });
    expect(named.outcome).to.equal("admitted");
  });

  it("is asked for a key before there is any with AUTH=required, and never with AUTH=off", async () => {
    expect(await outcome(ringOf([]), undefined, { mode: "required" })).to.equal("key-missing");
    expect(await outcome(ring, undefined, { mode: "off" })).to.equal("admitted");
  });

  it("is named by the key, and in its tenant", async () => {
    const admission = await open(ring).admit(`bearer  ${key.text}`, "jobs:read");
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
    it(`is none with ${what}`, async () => {
      expect(await open(ring).admit(header, "jobs:read")).to.deep.equal({ outcome: "key-invalid" });
    });
  }

  it("may do what its key says, and each scope stands for itself", async () => {
    const admin = newKey({ scopes: ["admin"] });
    const access = open(ringOf([key.record, admin.record]));
    expect(await access.admit(`Bearer ${key.text}`, "events:read")).to.include({ outcome: "admitted" });
    expect(await access.admit(`Bearer ${key.text}`, "admin")).to.deep.include({
      outcome: "scope-missing",
      scope: "admin",
    });
    expect(await access.admit(`Bearer ${admin.text}`, "jobs:read")).to.deep.include({ outcome: "scope-missing" });
  });
});

describe("A caller with a key that this instance does not know", () => {
  const key = newKey();

  /** Knows its key from the first look on. */
  const ringToLearn = () => {
    const looks = { count: 0 };
    const now = () => ringOf(looks.count > 0 ? [key.record] : []);
    const ring: KeyRing = {
      find: (id) => now().find(id),
      rulesOf: (tenant) => now().rulesOf(tenant),
      hasKeys: () => now().hasKeys(),
      hasUsableKey: () => now().hasUsableKey(),
      ageMs: () => 0,
      sinceLookMs: () => 0,
      refresh: async () => {
        looks.count += 1;
      },
    };
    return { ring, looks };
  };

  for (const mode of ["auto", "required"] as const) {
    it(`is looked for, and in the key's tenant, though the key is the first (AUTH=${mode})`, async () => {
      const admission = await open(ringToLearn().ring, { mode }).admit(`Bearer ${key.text}`, "jobs:write");
      expect(admission).to.have.nested.include({ outcome: "admitted", "caller.tenant": "acme" });
    });
  }

  it("is refused where no key is needed, and not taken for a caller without one", async () => {
    expect(await outcome(ringOf([]), `Bearer ${key.text}`)).to.equal("key-invalid");
    expect(await outcome(ringOf([], { ageMs: 1 }), `Bearer ${key.text}`)).to.equal("keys-unavailable");
    for (const header of ["", "Basic YTpi", "Bearer ", `Bearer ${key.text.slice(0, -1)}`])
      expect(await outcome(ringOf([]), header), header).to.equal("admitted");
    expect(await outcome(ringOf([]), `Bearer ${key.text}`, { mode: "off" })).to.equal("admitted");
  });

  it("shares a look with the others of a tenth of a second", async () => {
    const { ring, looks } = ringToLearn();
    const access = open(ring);
    const guesses = Array.from({ length: 50 }, () => access.admit(`Bearer ${newKey().text}`, "jobs:read"));
    for (const { outcome: refused } of await Promise.all(guesses)) expect(refused).to.equal("key-invalid");
    expect(looks.count).to.equal(2);
  });
});

describe("An instance that cannot reach NATS", () => {
  const key = newKey();

  it("goes on with the keys that it knows, and cannot say about others", async () => {
    const ring = ringOf([key.record], { ageMs: 60_000 });
    expect(await outcome(ring, `Bearer ${key.text}`)).to.equal("admitted");
    expect(await outcome(ring, `Bearer ${newKey().text}`)).to.equal("keys-unavailable");
    expect(await outcome(ring, undefined)).to.equal("key-missing");
  });

  it("admits no caller after five minutes, since a key may have been revoked", async () => {
    const ring = ringOf([key.record], { ageMs: 301_000 });
    expect(await outcome(ring, `Bearer ${key.text}`)).to.equal("keys-unavailable");
    expect(await outcome(ring, undefined)).to.equal("keys-unavailable");
  });

  it("stays open to this machine where it never knew of a key", async () => {
    expect(await outcome(ringOf([], { ageMs: 301_000 }), undefined)).to.equal("admitted");
  });
});

describe("A caller of a process that stood still", () => {
  const key = newKey();
  const revoked = { ...key.record, sha256: null, revokedAt: "2026-11-21T09:00:00.000Z" };
  /** As the process knew it a minute ago; a look ends that, whether or not it finds an answer. */
  function ringAfter(look: () => Promise<KeyRing>): KeyRing {
    let ring = ringOf([key.record]);
    let sinceLookMs = 60_000;
    return {
      ...ring,
      find: (id) => ring.find(id),
      sinceLookMs: () => sinceLookMs,
      refresh: async () => {
        sinceLookMs = 0;
        ring = await look();
      },
    };
  }
  const admit = async (ring: KeyRing) => await outcome(ring, `Bearer ${key.text}`);

  it("is not admitted by a key that was revoked meanwhile", async () => {
    expect(await admit(ringAfter(async () => ringOf([revoked])))).to.equal("key-invalid");
  });

  it("is admitted where NATS does not answer, as with any process that is cut off from it", async () => {
    const ring = ringAfter(async () => {
      throw new Unavailable("NATS is away.");
    });
    expect(await admit(ring)).to.equal("admitted");
  });
});

describe("The senders of a caller", () => {
  const key = newKey();
  const rules = { acme: { senders: ["acme.example"], dailyRecipients: 7, approvalAbove: null } };
  const limitsOf = async (ring: KeyRing, authorization?: string) => {
    const admission = await open(ring).admit(authorization, "jobs:read");
    return admission.outcome === "admitted" ? admission.caller.limits : null;
  };

  it("are any without keys, and MAIL_FROM alone for a tenant without rules", async () => {
    expect(await limitsOf(ringOf([]))).to.deep.equal({ senders: null, dailyRecipients: null, approvalAbove: null });
    const ofKey = await limitsOf(ringOf([key.record]), `Bearer ${key.text}`);
    expect(ofKey).to.deep.equal({ senders: ["waybill@example.org"], dailyRecipients: null, approvalAbove: null });
  });

  it("are what an operator has allowed the tenant", async () => {
    const limits = await limitsOf(ringOf([key.record], { rules }), `Bearer ${key.text}`);
    expect(limits).to.deep.equal({
      senders: ["waybill@example.org", "acme.example"],
      dailyRecipients: 7,
      approvalAbove: null,
    });
  });
});

describe("A rate limit", () => {
  it("is one for each key, and refuses before it looks at scopes", async () => {
    const [one, other] = [newKey(), newKey()];
    const access = open(ringOf([one.record, other.record]), { rateLimit: 2 });
    const ask = ({ text }: typeof one, scope: "jobs:read" | "admin" = "jobs:read") =>
      access.admit(`Bearer ${text}`, scope);
    expect(await ask(one)).to.have.nested.include({ outcome: "admitted", "rate.limit": 2, "rate.left": 1 });
    expect(await ask(one, "admin")).to.have.nested.include({ outcome: "scope-missing", "rate.left": 0 });
    expect(await ask(one, "admin")).to.include({ outcome: "rate-limited", retryAfterSeconds: 30 });
    expect(await ask(other)).to.include({ outcome: "admitted" });
  });
});
