import { isSenderAllowed } from "../../access/caller-limits.ts";
import { type Checked, failed, passed, shown } from "../../schemas/fault.ts";

/**
 * Whether the tenant may send as whom the request names; without a name it is the service's own sender. `senders` is
 * null where any may be named.
 */
export function checkSender(from: string | undefined, senders: readonly string[] | null): Checked<null> {
  if (from === undefined || senders === null || isSenderAllowed(addressIn(from), senders)) return passed(null);
  const message = `from is ${shown(from)}; expected one of this tenant's senders: ${senders.join(", ")}`;
  return failed([{ pointer: "/from", message }]);
}

const addressIn = (mailbox: string): string => /<([^<>]*)>$/.exec(mailbox)?.[1] ?? mailbox;
