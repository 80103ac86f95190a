import type { Measurement } from "./row.ts";
import { agedLog } from "./rows/aged-log.ts";
import { catchingUp } from "./rows/catching-up.ts";
import { clusteredLog } from "./rows/clustered-log.ts";
import { elections } from "./rows/elections.ts";
import { fleet } from "./rows/fleet.ts";
import { floorOfAJob } from "./rows/floor-of-a-job.ts";
import { history } from "./rows/history.ts";
import { idleCluster } from "./rows/idle-cluster.ts";
import { longMailing } from "./rows/long-mailing.ts";
import { mailingOneProcess } from "./rows/mailing-one-process.ts";
import { mailingSeparate } from "./rows/mailing-separate.ts";
import { mailingSynced } from "./rows/mailing-synced.ts";
import { manyMailings } from "./rows/many-mailings.ts";
import { noisyTenant } from "./rows/noisy-tenant.ts";
import { postAlone } from "./rows/post-alone.ts";
import { reads } from "./rows/reads.ts";
import { rebuild } from "./rows/rebuild.ts";
import { recipientImport } from "./rows/recipient-import.ts";
import { returnPaths } from "./rows/return-paths.ts";
import { sharedMailings } from "./rows/shared-mailings.ts";
import { smallJobs } from "./rows/small-jobs.ts";
import { start } from "./rows/start.ts";
import { streamLatency } from "./rows/stream-latency.ts";
import { workers } from "./rows/workers.ts";

/** In the order of the table. */
export const allMeasurements: readonly Measurement[] = [
  mailingSeparate,
  mailingOneProcess,
  mailingSynced,
  returnPaths,
  smallJobs,
  floorOfAJob,
  postAlone,
  reads,
  catchingUp,
  rebuild,
  manyMailings,
  recipientImport,
  longMailing,
  agedLog,
  workers,
  noisyTenant,
  clusteredLog,
  elections,
  fleet,
  idleCluster,
  sharedMailings,
  history,
  streamLatency,
  start,
];
