import { createMailingListener } from "../mailings/follow-mailings.ts";
import { createOutageReport } from "../process/logger.ts";
import { erasurePortsOf } from "./erasure-role.ts";
import { startListener } from "./listeners.ts";
import type { Parts } from "./parts.ts";

/** Makes the parts of mailings, and carries what was decided about a mailing to its parts. */
export function startMailings(parts: Parts): void {
  const report = createOutageReport(parts.logger, { part: "mailings" }).failed;
  startListener(parts, createMailingListener({ ...erasurePortsOf(parts), room: parts.room, report }), report);
}
