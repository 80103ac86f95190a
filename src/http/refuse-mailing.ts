import type { CallerLimits } from "../access/access.ts";
import type { Quota, QuotaAnswer, QuotaRequest } from "../access/quota.ts";
import { isSenderAllowed } from "../access/senders.ts";
import { type Checked, failed, passed, shown } from "../schemas/fault.ts";
import type { Answer } from "./answer.ts";
import { refuse } from "./problem.ts";

/** Whether the tenant may send as whom the request names; without a name it is the service's own sender. */
export function checkSender(from: string | undefined, { senders }: CallerLimits): Checked<null> {
  if (from === undefined || senders === null || isSenderAllowed(addressIn(from), senders)) return passed(null);
  const message = `from is ${shown(from)}; expected one of this tenant's senders: ${senders.join(", ")}`;
  return failed([{ pointer: "/from", message }]);
}

const addressIn = (mailbox: string): string => /<([^<>]*)>$/.exec(mailbox)?.[1] ?? mailbox;

/**
 * Null where the tenant may have so many recipients today, which are counted then. A job that is there already was
 * counted when it was accepted, be it on another day.
 */
export async function refuseOverQuota(
  quota: Quota,
  { dailyRecipients }: CallerLimits,
  job: Omit<QuotaRequest, "perDay">,
  isRepeat: () => Promise<boolean>,
): Promise<Answer | null> {
  if (dailyRecipients === null || (await isRepeat())) return null;
  const request = { ...job, perDay: dailyRecipients };
  const answer = await quota.take(request);
  return answer.granted ? null : quotaExceeded(answer, request);
}

function quotaExceeded(
  { left, resetsAt }: Extract<QuotaAnswer, { granted: false }>,
  { perDay: limit, recipients, at }: QuotaRequest,
): Answer {
  const seconds = Math.ceil((Date.parse(resetsAt) - Date.parse(at)) / 1000);
  const detail = `There are ${recipients} recipients, and ${left} of ${limit} are left until ${resetsAt}.`;
  return refuse("quota-exceeded", detail, {
    headers: {
      "Retry-After": String(seconds),
      "RateLimit-Policy": `"recipients";q=${limit};qu="recipients";w=86400`,
      RateLimit: `"recipients";r=${left};t=${seconds}`,
    },
    members: { limit, left, resetsAt },
  });
}
