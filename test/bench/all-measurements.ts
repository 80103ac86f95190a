import type { Measurement } from "./row.ts";
import { mailingOneProcess } from "./rows/mailing-one-process.ts";
import { mailingSeparate } from "./rows/mailing-separate.ts";
import { mailingSynced } from "./rows/mailing-synced.ts";
import { postAlone } from "./rows/post-alone.ts";
import { reads } from "./rows/reads.ts";
import { smallJobs } from "./rows/small-jobs.ts";

/** In the order of the table. */
export const allMeasurements: readonly Measurement[] = [
  mailingSeparate,
  mailingOneProcess,
  mailingSynced,
  smallJobs,
  postAlone,
  reads,
];
