import type { Fault } from "./fault.ts";
import { linkFaults } from "./link-faults.ts";
import { logFaults } from "./log-faults.ts";
import { mailServerFaults } from "./mail-server-faults.ts";
import { outages } from "./outages.ts";
import { freezes, kills, restarts } from "./process-faults.ts";
import { twentyKills } from "./twenty-kills.ts";

/** The whole matrix, in the order in which it runs. */
export const allFaults: readonly Fault[] = [
  ...kills,
  ...freezes,
  ...restarts,
  ...linkFaults,
  ...mailServerFaults,
  ...outages,
  ...logFaults,
  twentyKills,
];
