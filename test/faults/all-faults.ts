import { agedLog } from "./aged-log.ts";
import type { Fault } from "./fault.ts";
import { linkFaults } from "./link-faults.ts";
import { logFaults } from "./log-faults.ts";
import { mailServerFaults } from "./mail-server-faults.ts";
import { mailingKills } from "./mailing-kills.ts";
import { outages } from "./outages.ts";
import { freezes, kills, restarts } from "./process-faults.ts";
import { reportFaults } from "./report-faults.ts";
import { routeFaults } from "./route-faults.ts";
import { scheduleKills } from "./schedule-kills.ts";
import { twentyKills } from "./twenty-kills.ts";

/** A past that is written in seconds; what takes longer with a long one shows from some hundred thousand on. */
export const fewAgedJobs = 5_000;

/** The whole matrix, in the order in which it runs; the past of the aged log has so many jobs. */
export const allFaults = (agedJobs: number): readonly Fault[] => [
  ...kills,
  ...freezes,
  ...restarts,
  ...linkFaults,
  ...mailServerFaults,
  ...routeFaults,
  ...reportFaults,
  ...outages,
  ...logFaults,
  agedLog(agedJobs),
  twentyKills,
  ...mailingKills,
  scheduleKills,
];
