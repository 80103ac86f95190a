import type { Context } from "koa";
import type { Access, Admission } from "../../access/access.ts";
import type { RateState } from "../../access/rate-limit.ts";
import { type Answer, refuse, refuseForNow } from "./answer.ts";
import { signedIn } from "./request-context.ts";
import type { Route } from "./route.ts";

/** Identifies the caller before anything else of the request is looked at. Null where the caller may go on. */
export async function admit(ctx: Context, access: Access, scope: Route["scope"]): Promise<Answer | null> {
  if (scope === "open") return null;
  const { authorization, host, "sec-fetch-site": site } = ctx.req.headers;
  const origin = { method: ctx.method, host, site: typeof site === "string" ? site : undefined };
  const admission = await access.admit(authorization, scope, origin);
  if ("caller" in admission) {
    ctx.state["context"] = signedIn(ctx.state["context"], admission.caller);
    if (admission.rate !== null) ctx.set(rateHeaders(admission.rate));
  }
  return admission.outcome === "admitted" ? null : refuseAdmission(admission, scope);
}

const challenge = 'Bearer realm="waybill"';

/**
 * Amazon SNS keeps the name and the password of its URL back until it is asked for them, and knows no other scheme. Elsewhere
 * it would make browsers show a form of their own.
 */
const challengeFor = (scope: Route["scope"]): string =>
  scope === "bounces:write" ? 'Basic realm="waybill"' : challenge;

function refuseAdmission(admission: Exclude<Admission, { outcome: "admitted" }>, scope: Route["scope"]): Answer {
  switch (admission.outcome) {
    case "key-missing":
      return refuse("key-missing", "The API key is missing; expected the header Authorization: Bearer <key>.", {
        headers: { "WWW-Authenticate": challengeFor(scope) },
      });
    case "foreign-page":
      return refuse(
        "key-missing",
        "As long as there is no API key, the service answers programs and pages of this machine alone, by a name such as " +
          "localhost. Make a key: waybill keys create --tenant default",
        { headers: { "WWW-Authenticate": challenge } },
      );
    case "key-invalid":
      return refuse("key-invalid", "The Authorization header holds no valid API key; expected Bearer <key>.", {
        headers: { "WWW-Authenticate": `${challenge}, error="invalid_token"` },
      });
    case "scope-missing":
      return refuse("scope-missing", `The API key lacks the scope ${admission.scope}.`, {
        headers: { "WWW-Authenticate": `${challenge}, error="insufficient_scope", scope="${admission.scope}"` },
        members: { scope: admission.scope },
      });
    case "rate-limited":
      return refuseForNow(
        "rate-limited",
        `This API key may make ${admission.limit} requests a minute. Try again later.`,
        admission.retryAfterSeconds,
      );
    case "keys-unavailable":
      return refuseForNow("keys-unavailable", "The API keys cannot be checked now. Try again.", 2);
  }
}

/** As draft-ietf-httpapi-ratelimit-headers-11 defines them: `r` requests are left, and the full rate returns in `t` seconds. */
const rateHeaders = ({ limit, left, resetSeconds }: RateState): Record<string, string> => ({
  "RateLimit-Policy": `"default";q=${limit};w=60`,
  RateLimit: `"default";r=${left};t=${resetSeconds}`,
});
