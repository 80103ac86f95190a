import type { Measurement } from "./row.ts";
import { historyMeasurement } from "./rows/history.ts";
import { longMailingMeasurement } from "./rows/long-mailing.ts";
import { mailingMeasurement } from "./rows/mailing.ts";
import { postAloneMeasurement } from "./rows/post-alone.ts";
import { readsMeasurement } from "./rows/reads.ts";
import { rebuildMeasurement } from "./rows/rebuild.ts";
import { slowMailServerMeasurement } from "./rows/slow-mail-server.ts";
import { smallJobsMeasurement } from "./rows/small-jobs.ts";
import { startMeasurement } from "./rows/start.ts";
import { streamLatencyMeasurement } from "./rows/stream-latency.ts";

/** In the order of the table. */
export const allMeasurements: readonly Measurement[] = [
  mailingMeasurement,
  smallJobsMeasurement,
  postAloneMeasurement,
  readsMeasurement,
  rebuildMeasurement,
  historyMeasurement,
  longMailingMeasurement,
  streamLatencyMeasurement,
  startMeasurement,
  slowMailServerMeasurement,
];
