import { randomBytes, timingSafeEqual } from "node:crypto";
import { addressOf } from "../mail/address-of.ts";
import { digestOfKey, parseAccessKey } from "./access-key.ts";
import { type AuthMode, asksForKeys } from "./auth-mode.ts";
import type { KeyRecord, KeyRing } from "./key-ring.ts";
import { createRateLimit, type RateState } from "./rate-limit.ts";
import type { Scope } from "./scopes.ts";
import { normalisedSender } from "./senders.ts";
import { defaultTenant } from "./tenant.ts";

/** Who asks, and what was laid down for the tenant. */
export type Caller = {
  readonly tenant: string;
  /** `anonymous`, or `key:<id>`. */
  readonly actor: string;
  readonly limits: CallerLimits;
};

export type CallerLimits = {
  /** Addresses and domains that mailings may come from; null for any. */
  readonly senders: readonly string[] | null;
  readonly dailyRecipients: number | null;
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
  admit(authorization: string | undefined, scope: Scope): Admission;
  /** Whether a caller who was admitted still would be: for answers that go on while keys are revoked. */
  isStillAdmitted(actor: string, scope: Scope): boolean;
}

export type AccessSettings = {
  readonly mode: AuthMode;
  readonly host: string;
  /** Requests per minute and key, in this process; null for no limit. */
  readonly rateLimit: number | null;
  /** The default sender, with or without a name: everybody may use it. */
  readonly mailFrom: string;
};

/** A key that is not known may have been made since, where the ring is older than this: then nobody can say. */
const newKeysMs = 2000;
/**
 * An instance that was cut off does not hear of revocations. It goes on with the keys that it knew for so long, for
 * reads that need no NATS, and then lets nobody in.
 */
const trustedMs = 300_000;

export function createAccess(ring: KeyRing, { mode, host, rateLimit, mailFrom }: AccessSettings): Access {
  const limiter = rateLimit === null ? null : createRateLimit(rateLimit);
  const ownSender = normalisedSender(addressOf(mailFrom));

  const toCaller = (key: KeyRecord): Caller => {
    const { senders, dailyRecipients } = ring.rulesOf(key.tenant);
    return {
      tenant: key.tenant,
      actor: `key:${key.id}`,
      limits: { senders: [ownSender, ...(senders ?? [])], dailyRecipients },
    };
  };
  /** Without keys there is one tenant, whose operator is the only caller: it may name any sender unless rules say so. */
  const anonymous = (): Caller => {
    const { senders, dailyRecipients } = ring.rulesOf(defaultTenant);
    const allowed = senders === null ? null : [ownSender, ...senders];
    return { tenant: defaultTenant, actor: "anonymous", limits: { senders: allowed, dailyRecipients } };
  };

  return {
    admit: (authorization, scope) => {
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
      if (key !== null && !key.scopes.includes(scope)) return { outcome: "scope-missing", caller, scope, rate };
      return { outcome: "admitted", caller, rate };
    },
    isStillAdmitted: (actor, scope) => {
      if (!asksForKeys(mode, host, ring)) return true;
      const key = actor.startsWith("key:") ? ring.find(actor.slice("key:".length)) : null;
      return key !== null && key.sha256 !== null && key.scopes.includes(scope) && ring.ageMs() <= trustedMs;
    },
  };
}

/** Compared where there is nothing to compare with, so that it takes as long; nobody has a key with this digest. */
const nobody = { text: randomBytes(45).toString("base64"), digest: randomBytes(32) };

/** Whatever is wrong with a header, it costs one digest and one comparison, and the answer is the same. */
function findKey(ring: KeyRing, authorization: string): KeyRecord | null {
  const presented = parseAccessKey(bearerOf(authorization));
  const record = presented === null ? null : ring.find(presented.id);
  const expected = record?.sha256 ? Buffer.from(record.sha256, "hex") : nobody.digest;
  const isTheirs = timingSafeEqual(digestOfKey(presented?.text ?? nobody.text), expected);
  return isTheirs ? record : null;
}

/** What is longer than any key is not even looked at. */
const bearerOf = (authorization: string): string =>
  authorization.length > 200 ? "" : (/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "");
