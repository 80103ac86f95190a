import { type Checked, failed, passed, shown } from "../schemas/fault.ts";
import type { AllowedNetworks } from "./addresses.ts";
import { whyNotToCall } from "./target-url.ts";

/** Whether we may call it, as far as the URL tells; `field` is where it stands in the body. */
export function checkWebhookUrl(url: string | undefined, field: string, allowed: AllowedNetworks): Checked<null> {
  const expected = url === undefined ? null : whyNotToCall(url, allowed);
  if (expected === null) return passed(null);
  // What is wrong with it may be the password in it.
  const found = url !== undefined && URL.canParse(url) ? "cannot be called" : `is ${shown(url)}`;
  return failed([{ pointer: `/${field}`, message: `${field} ${found}; expected ${expected}` }]);
}
