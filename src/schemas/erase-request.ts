import { Type } from "typebox";
import { isEmailAddress } from "./email-address.ts";
import { type Checked, failed, faultAt, passed, shown } from "./fault.ts";
import { changeRequest, someReason } from "./job-action-request.ts";
import { checkRequest, closed } from "./request-schema.ts";

/** What POST /api/recipients/erase takes. */
export const eraseRequest = Type.Object(
  {
    email: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: "an e-mail address, or the URL that a job called",
    }),
    reason: someReason,
  },
  closed,
);

const checkErase = checkRequest(eraseRequest);
const checkReason = checkRequest(changeRequest);

type Erase = { readonly email: string; readonly reason: string };

export function readEraseRequest(body: unknown): Checked<Erase> {
  const checked = checkErase(body);
  if (!checked.valid) return checked;
  const { email, reason } = checked.value;
  const isUrl = /^https?:\/\//i.test(email) && URL.canParse(email);
  const expected = "expected an e-mail address such as ada@example.com, or the URL that a job called";
  const faults = [
    ...(isUrl || isEmailAddress(email) ? [] : [faultAt("/email", `is ${shown(email)}; ${expected}`)]),
    ...faultsOfReason(reason),
  ];
  return faults.length > 0 ? failed(faults) : passed({ email, reason });
}

/** What DELETE /api/jobs/:jobId/content takes, if anything. */
export function readEraseContentRequest(body: unknown): Checked<{ readonly reason: string | null }> {
  const checked = checkReason(body);
  if (!checked.valid) return checked;
  const reason = checked.value.reason ?? null;
  const faults = reason === null ? [] : faultsOfReason(reason);
  return faults.length > 0 ? failed(faults) : passed({ reason });
}

/** It stays in the log for ever, from where nobody can erase what it is there to erase. */
const faultsOfReason = (reason: string) =>
  /\S@\S/.test(reason) ? [faultAt("/reason", "holds an address; expected words that name nobody, as it is kept")] : [];
