import { randomBytes, timingSafeEqual } from "node:crypto";
import { type CallerLimits, defaultTenant } from "../domain/tenant.ts";
import { shareReads } from "../process/shared-reads.ts";
import { type AccessKey, digestOfKey, parseAccessKey } from "./access-key.ts";
import { asksForKeys } from "./auth-mode.ts";
import { createLimits, type LimitsSettings } from "./caller-limits.ts";
import { isForeignPage, type Origin } from "./foreign-page.ts";
import type { KeyRecord, KeyRing, Needed, Scope } from "./key-ring.ts";
import { createRateLimit, type RateState } from "./rate-limit.ts";

/** The caller of a request, and the limits of its tenant. */
export type Caller = {
  readonly tenant: string;
  /** `anonymous`, or `key:<id>`. */
  readonly actor: string;
  readonly limits: CallerLimits;
};

/** Known whenever the key is valid, even if the request is refused. */
type Known = { readonly caller: Caller; readonly rate: RateState | null };

export type Admission =
  | ({ readonly outcome: "admitted" } & Known)
  | ({ readonly outcome: "scope-missing"; readonly scope: Scope } & Known)
  | ({ readonly outcome: "rate-limited"; readonly limit: number; readonly retryAfterSeconds: number } & Known)
  | { readonly outcome: "key-missing" | "key-invalid" | "keys-unavailable" | "foreign-page" };

/** Admits callers by their Authorization header. What it needs is in memory, but for a key that is not known yet. */
export interface Access {
  admit(authorization: string | undefined, needed: Needed, origin?: Origin): Promise<Admission>;
  /** Whether a caller that was admitted still would be: for streams that go on while keys are revoked. */
  isStillAdmitted(actor: string, needed: Needed): boolean;
}

export type AccessSettings = LimitsSettings & {
  /** Requests per minute and key, in this process; null for no limit. */
  readonly rateLimit: number | null;
};

/** Unknown keys make the ring look for new ones no more often than this: a caller that guesses keys costs NATS little. */
const lookEveryMs = 100;
/** The ring is looked at several times a second. A process that has not done so stood still: it looks before it admits anyone. */
const stoodStillMs = 2000;
/** All looks are at the same ring. */
const oneRing = "";
/**
 * An instance that is cut off from NATS does not learn of revocations. For this long it goes on admitting the keys that
 * it knew, for reads that need no NATS; after that it admits no caller.
 */
const trustedMs = 300_000;

type Asked = {
  readonly hasHeader: boolean;
  /** Null where the header holds no key. */
  readonly presented: AccessKey | null;
  readonly needed: Needed;
  readonly origin: Origin | undefined;
};

export function createAccess(ring: KeyRing, { rateLimit, ...settings }: AccessSettings): Access {
  const { mode, host } = settings;
  const limiter = rateLimit === null ? null : createRateLimit(rateLimit);
  const limitsOf = createLimits(ring, settings);

  const toCaller = ({ id, tenant }: KeyRecord): Caller => ({ tenant, actor: `key:${id}`, limits: limitsOf(tenant) });
  const anonymous = (): Caller => ({ tenant: defaultTenant, actor: "anonymous", limits: limitsOf(defaultTenant) });

  const lookForNewKeys = shareReads(() => ring.refresh(), lookEveryMs);

  const decide = ({ hasHeader, presented, needed, origin }: Asked): Admission => {
    // A caller with a key means the tenant of the key, also where none is asked for.
    const isOpen = !asksForKeys(mode, host, ring) && (mode === "off" || presented === null);
    const isForThisMachine = isOpen && mode === "auto";
    if (isForThisMachine && origin !== undefined && isForeignPage(origin)) return { outcome: "foreign-page" };
    if (!isOpen && ring.ageMs() > trustedMs) return { outcome: "keys-unavailable" };
    if (!isOpen && !hasHeader) return { outcome: "key-missing" };
    const key = isOpen ? null : findKey(ring, presented);
    if (!isOpen && key === null) return { outcome: "key-invalid" };
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
  };

  return {
    admit: async (authorization, needed, origin) => {
      const hasHeader = authorization !== undefined;
      const presented = hasHeader ? parseAccessKey(presentedKey(authorization)) : null;
      const isUnknown = mode !== "off" && presented !== null && ring.find(presented.id) === null;
      try {
        if (isUnknown || ring.sinceLookMs() > stoodStillMs) await lookForNewKeys(oneRing);
      } catch {
        if (isUnknown) return { outcome: "keys-unavailable" };
      }
      return decide({ hasHeader, presented, needed, origin });
    },
    isStillAdmitted: (actor, needed) => {
      if (!asksForKeys(mode, host, ring)) return true;
      const key = actor.startsWith("key:") ? ring.find(actor.slice("key:".length)) : null;
      const hasScope = needed === "any" || key?.scopes.includes(needed);
      return key !== null && key.sha256 !== null && hasScope === true && ring.ageMs() <= trustedMs;
    },
  };
}

/** Compared with when the key is unknown, so that the comparison takes as long. No key has this digest. */
const placeholder = { text: randomBytes(45).toString("base64"), digest: randomBytes(32) };

/** Every wrong header costs one digest and one comparison, and gets the same answer. */
function findKey(ring: KeyRing, presented: AccessKey | null): KeyRecord | null {
  const record = presented === null ? null : ring.find(presented.id);
  const expected = record?.sha256 ? Buffer.from(record.sha256, "hex") : placeholder.digest;
  const isTheirs = timingSafeEqual(digestOfKey(presented?.text ?? placeholder.text), expected);
  return isTheirs ? record : null;
}

/**
 * The key of a header. Some providers can call a webhook with a name and a password only: the password is the key then. A
 * header that is longer than any key is not parsed.
 */
function presentedKey(authorization: string): string {
  const [, scheme = "", given = ""] =
    authorization.length > 300 ? [] : (/^(Bearer|Basic) +(\S+) *$/i.exec(authorization) ?? []);
  if (scheme.toLowerCase() !== "basic") return given;
  const pair = Buffer.from(given, "base64").toString("utf8");
  return pair.slice(pair.indexOf(":") + 1);
}
