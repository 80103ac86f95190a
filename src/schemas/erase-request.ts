import { Type } from "typebox";
import { isEmailAddress } from "./email-address.ts";
import { type Checked, failed, faultAt, passed, shown } from "./fault.ts";
import { readChangeRequest, someReason } from "./job-action-request.ts";
import { checkRequest, closed } from "./request-schema.ts";

/** As long as the longest URL. */
export const longestAddress = 2048;

/** Whether a recipient of some kind of job is stored by such a name: what no kind stores has no history. */
export const isRecipientAddress = (text: string): boolean =>
  isEmailAddress(text) || (text.length <= longestAddress && /^https?:\/\//i.test(text) && URL.canParse(text));

/** The body of POST /api/recipients/erase. */
export const eraseRequest = Type.Object(
  {
    email: Type.String({
      minLength: 1,
      maxLength: longestAddress,
      description: "an e-mail address, or the URL that a job called",
    }),
    reason: someReason,
  },
  { ...closed, examples: [{ email: "ada@example.com", reason: "asked for it by letter" }] },
);

const checkErase = checkRequest(eraseRequest);

type Erase = { readonly email: string; readonly reason: string };

export function readEraseRequest(body: unknown): Checked<Erase> {
  const checked = checkErase(body);
  if (!checked.valid || isRecipientAddress(checked.value.email)) return checked;
  const expected = "expected an e-mail address such as ada@example.com, or the URL that a job called";
  return failed([faultAt("/email", `is ${shown(checked.value.email)}; ${expected}`)]);
}

/** The optional body of DELETE /api/jobs/:jobId/content. */
export function readEraseContentRequest(body: unknown): Checked<{ readonly reason: string | null }> {
  const checked = readChangeRequest(body);
  return checked.valid ? passed({ reason: checked.value.reason ?? null }) : checked;
}
