import { kindOf, readJobRequest } from "../job-kinds/all-job-kinds.ts";
import type { CallerRules } from "../job-kinds/job-kind.ts";
import { type Checked, failed, faultsIn, passed, shown } from "../schemas/fault.ts";
import { type JobRequest, maxRecipients } from "../schemas/job-request.ts";
import { type AllowedNetworks, whyNotToCall } from "../signed-post/addresses.ts";
import type { Refusal } from "./refusal.ts";

/** Of the JSON that asks for a job: room for 5 MB of attachments in base64, beside the megabyte of a content. */
export const maxRequestBytes = 9 * 1024 * 1024;

/** Comes before everything else: what has a million recipients is not even looked through. */
export function refuseCrowd(body: unknown): Refusal | null {
  const recipients = typeof body === "object" && body !== null && "recipients" in body ? body.recipients : undefined;
  const count = Array.isArray(recipients) ? recipients.length : 0;
  return count > maxRecipients ? { code: "too-many-recipients", count } : null;
}

/** The request that a JSON value holds, or every fault of it at once, of its shape as of what this caller may ask. */
export function checkRequest(body: unknown, rules: CallerRules): Checked<JobRequest> {
  const request = readJobRequest(body);
  if (!request.valid) return request;
  const own = kindOf(request.value.type).check?.(request.value, rules) ?? passed(null);
  const url = checkWebhookUrl(request.value.webhookUrl, "webhookUrl", rules.allowed);
  return own.valid && url.valid ? passed(request.value) : { valid: false, faults: faultsIn(own, url) };
}

/** Whether we may call it, as far as the URL tells; `field` is where it stands in the body. */
export function checkWebhookUrl(url: string | undefined, field: string, allowed: AllowedNetworks): Checked<null> {
  const expected = url === undefined ? null : whyNotToCall(url, allowed);
  if (expected === null) return passed(null);
  // What is wrong with it may be the password in it.
  const found = url !== undefined && URL.canParse(url) ? "cannot be called" : `is ${shown(url)}`;
  return failed([{ pointer: `/${field}`, message: `${field} ${found}; expected ${expected}` }]);
}
