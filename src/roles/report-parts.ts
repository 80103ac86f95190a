import { createReadPositions } from "../../projections/following/read-position.ts";
import { jobReport } from "../../projections/jobs/report.ts";
import { logReport } from "../../projections/logs/report.ts";
import { createReportSource } from "../../projections/report-source.ts";
import { createJetStreamResultStore } from "../content/jetstream-result-store.ts";
import type { ResultStore } from "../content/result-store.ts";
import type { WorkPorts } from "../job-kinds/job-kind.ts";
import { createEventSource } from "../job-kinds/report/event-source.ts";
import type { Parts } from "./parts.ts";

export const resultsOf = ({ config, connection }: Pick<Parts, "config" | "connection">): ResultStore =>
  createJetStreamResultStore(connection, { prefix: config.natsPrefix, replicas: config.streamReplicas });

/** Reports are made of the read models, and of the log itself; workers know neither tables nor queries. */
export function reportsForWork(parts: Parts): WorkPorts["reports"] {
  const { log, db, announcements } = parts;
  const positions = createReadPositions(db, announcements);
  return {
    log,
    results: resultsOf(parts),
    sources: {
      jobs: createReportSource(db, positions, jobReport),
      logs: createReportSource(db, positions, logReport),
      events: createEventSource(log),
    },
  };
}
