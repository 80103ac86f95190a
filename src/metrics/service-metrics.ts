import type { LogGauge } from "../event-log/following/log-gauge.ts";
import type { Append } from "../event-log/observe-appends.ts";
import type { Condition } from "../health/probe.ts";
import type { MetricsPage } from "../http/routes/service.ts";
import type { Served } from "../http/server/middleware.ts";
import type { OutboxGauge } from "../outbox/outbox.ts";
import { type AlertMetrics, createAlertMetrics } from "./alert-metrics.ts";
import { createAppendMetrics } from "./append-metrics.ts";
import { type AttemptMetrics, createAttemptMetrics } from "./attempt-metrics.ts";
import { createLogGauges } from "./log-gauges.ts";
import { createMailMetrics, type MailMetrics } from "./mail-metrics.ts";
import { createReadModelGauges, type ReadModels } from "./read-model-gauges.ts";
import { createDependencyGauges, createOutboxGauges, createRefresh, type GaugeSource } from "./refreshed-gauges.ts";
import { createBuildInfo, createRegistry } from "./registry.ts";
import { createReportMetrics, type ReportTaken } from "./report-metrics.ts";
import { createHttpMetrics, createRequestMetrics, type RequestMetrics } from "./request-metrics.ts";

/** The sources that each request for the metrics reads. */
export type WatchedParts = ReadModels & {
  readonly log: LogGauge;
  readonly outbox: OutboxGauge;
  readonly isConnected: () => boolean;
  readonly examine: () => Promise<ReadonlyMap<string, Condition>>;
};

/** The metrics of one process. The working parts only call callbacks and do not know about metrics. */
export type ServiceMetrics = {
  readonly appended: (append: Append) => void;
  readonly served: Served;
  readonly mail: MailMetrics;
  readonly reportTaken: ReportTaken;
  readonly attempts: Pick<AttemptMetrics, "measure">;
  /** Called once, in a process that checks for alerts. */
  readonly alerts: () => AlertMetrics;
  readonly requests: RequestMetrics;
  /** Called once, when all parts exist. */
  page(parts: WatchedParts): MetricsPage;
};

export function createServiceMetrics(version: string): ServiceMetrics {
  const registry = createRegistry();
  createBuildInfo(registry, version);
  const appended = createAppendMetrics(registry);
  const attempts = createAttemptMetrics(registry);
  return {
    appended: (append) => {
      appended(append);
      if (append.outcome !== "stored") return;
      for (const { event } of append.entry) attempts.appended(append.job, event);
    },
    attempts,
    served: createHttpMetrics(registry),
    mail: createMailMetrics(registry),
    reportTaken: createReportMetrics(registry),
    alerts: createAlertMetrics(registry),
    requests: createRequestMetrics(registry),
    page: (parts) => {
      const sources: readonly GaugeSource[] = [
        ...createLogGauges(registry, parts.log, parts.isConnected),
        ...createReadModelGauges(registry, parts),
        ...createOutboxGauges(registry, parts.outbox),
        ...createDependencyGauges(registry, parts.examine),
      ];
      const refresh = createRefresh(sources);
      return {
        contentType: registry.contentType,
        print: async () => {
          await refresh();
          return registry.metrics();
        },
      };
    },
  };
}
