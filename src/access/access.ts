import { randomBytes, timingSafeEqual } from "node:crypto";
import { type CallerLimits, defaultTenant } from "../domain/tenant.ts";
import { digestOfKey, parseAccessKey } from "./access-key.ts";
import { asksForKeys } from "./auth-mode.ts";
import { createLimits, type LimitsSettings } from "./caller-limits.ts";
import type { KeyRecord, KeyRing, Needed, Scope } from "./key-ring.ts";
import { createRateLimit, type RateState } from "./rate-limit.ts";

/** Who asks, and what was laid down for the tenant. */
export type Caller = {
  readonly tenant: string;
  /** `anonymous`, or `key:<id>`. */
  readonly actor: string;
  readonly limits: CallerLimits;
};

/** Whose key it is is known also where it is not let in. */
type Known = { readonly caller: Caller; readonly rate: RateState | null };

export type Admission =
  | ({ readonly outcome: "admitted" } & Known)
  | ({ readonly outcome: "scope-missing"; readonly scope: Scope } & Known)
  | ({ readonly outcome: "rate-limited"; readonly limit: number; readonly retryAfterSeconds: number } & Known)
  | { readonly outcome: "key-missing" | "key-invalid" | "keys-unavailable" };

/** Lets callers in, by the value of their Authorization header. It asks nobody, so it answers at once. */
export interface Access {
  admit(authorization: string | undefined, needed: Needed): Admission;
  /** Whether a caller who was admitted still would be: for answers that go on while keys are revoked. */
  isStillAdmitted(actor: string, needed: Needed): boolean;
}

export type AccessSettings = LimitsSettings & {
  /** Requests per minute and key, in this process; null for no limit. */
  readonly rateLimit: number | null;
};

/** A key that is not known may have been made since, where the ring is older than this: then nobody can say. */
const newKeysMs = 2000;
/**
 * An instance that was cut off does not hear of revocations. It goes on with the keys that it knew for so long, for
 * reads that need no NATS, and then lets nobody in.
 */
const trustedMs = 300_000;

export function createAccess(ring: KeyRing, { rateLimit, ...settings }: AccessSettings): Access {
  const { mode, host } = settings;
  const limiter = rateLimit === null ? null : createRateLimit(rateLimit);
  const limitsOf = createLimits(ring, settings);

  const toCaller = ({ id, tenant }: KeyRecord): Caller => ({ tenant, actor: `key:${id}`, limits: limitsOf(tenant) });
  const anonymous = (): Caller => ({ tenant: defaultTenant, actor: "anonymous", limits: limitsOf(defaultTenant) });

  return {
    admit: (authorization, needed) => {
      const isOpen = !asksForKeys(mode, host, ring);
      if (!isOpen && ring.ageMs() > trustedMs) return { outcome: "keys-unavailable" };
      if (!isOpen && authorization === undefined) return { outcome: "key-missing" };
      const key = isOpen ? null : findKey(ring, authorization ?? "");
      if (!isOpen && key === null) {
        return { outcome: ring.ageMs() > newKeysMs ? "keys-unavailable" : "key-invalid" };
      }
      const caller = key === null ? anonymous() : toCaller(key);
      const rate = limiter?.take(caller.actor) ?? null;
      if (rate !== null && rate.retryAfterSeconds !== null) {
        const { limit, retryAfterSeconds } = rate;
        return { outcome: "rate-limited", caller, rate, limit, retryAfterSeconds };
      }
      if (key !== null && needed !== "any" && !key.scopes.includes(needed)) {
        return { outcome: "scope-missing", caller, scope: needed, rate };
      }
      return { outcome: "admitted", caller, rate };
    },
    isStillAdmitted: (actor, needed) => {
      if (!asksForKeys(mode, host, ring)) return true;
      const key = actor.startsWith("key:") ? ring.find(actor.slice("key:".length)) : null;
      const hasScope = needed === "any" || key?.scopes.includes(needed);
      return key !== null && key.sha256 !== null && hasScope === true && ring.ageMs() <= trustedMs;
    },
  };
}

/** Compared where there is nothing to compare with, so that it takes as long; nobody has a key with this digest. */
const placeholder = { text: randomBytes(45).toString("base64"), digest: randomBytes(32) };

/** Whatever is wrong with a header, it costs one digest and one comparison, and the answer is the same. */
function findKey(ring: KeyRing, authorization: string): KeyRecord | null {
  const presented = parseAccessKey(bearerOf(authorization));
  const record = presented === null ? null : ring.find(presented.id);
  const expected = record?.sha256 ? Buffer.from(record.sha256, "hex") : placeholder.digest;
  const isTheirs = timingSafeEqual(digestOfKey(presented?.text ?? placeholder.text), expected);
  return isTheirs ? record : null;
}

/** What is longer than any key is not even looked at. */
const bearerOf = (authorization: string): string =>
  authorization.length > 200 ? "" : (/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "");
