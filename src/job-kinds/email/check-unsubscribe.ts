import { type Checked, type Fault, failed, faultAt, passed } from "../../schemas/fault.ts";

type Links = { readonly unsubscribe?: boolean; readonly headers?: Readonly<Record<string, string>> };

const ownHeaders: readonly string[] = ["list-unsubscribe", "list-unsubscribe-post"];

/** Whether mails can have links of their own by which their recipients unsubscribe, where the request asks for them. */
export function checkUnsubscribe({ unsubscribe, headers = {} }: Links, publicUrl: string | null): Checked<null> {
  if (!unsubscribe) return passed(null);
  const faults: Fault[] = Object.keys(headers)
    .filter((name) => ownHeaders.includes(name.toLowerCase()))
    .map((name) => faultAt(`/headers/${name}`, "is given beside unsubscribe; expected one of them"));
  if (publicUrl === null) {
    const setting = "expected the setting PUBLIC_URL, which says where people reach this service";
    faults.push(faultAt("/unsubscribe", `is true, and there is no address for the links; ${setting}`));
  }
  return faults.length === 0 ? passed(null) : failed(faults);
}
