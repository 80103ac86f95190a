import type { LogGauge } from "../event-log/log-gauge.ts";
import type { Append } from "../event-log/observe-appends.ts";
import type { ServedRequest } from "../http/measure-requests.ts";
import type { Condition } from "../http/routes/health.ts";
import type { MetricsPage } from "../http/routes/metrics.ts";
import { createAppendMetrics } from "./append-metrics.ts";
import { createDependencyGauges } from "./dependency-gauges.ts";
import { createHttpMetrics } from "./http-metrics.ts";
import { createLogGauges } from "./log-gauges.ts";
import { createMailMetrics, type MailMetrics } from "./mail-metrics.ts";
import { createReadModelGauges, type ReadModels } from "./read-model-gauges.ts";
import { createRefresh, type GaugeSource } from "./refreshed-gauges.ts";
import { createRegistry } from "./registry.ts";

/** What is asked each time somebody looks. */
export type WatchedParts = ReadModels & {
  readonly log: LogGauge;
  readonly isConnected: () => boolean;
  readonly examine: () => Promise<ReadonlyMap<string, Condition>>;
};

/** The measures of one process. Whoever does the work calls back; nobody who does it knows of metrics. */
export type ServiceMetrics = {
  readonly appended: (append: Append) => void;
  readonly served: (request: ServedRequest) => void;
  readonly mail: MailMetrics;
  /** Once, when all parts are there. */
  page(parts: WatchedParts): MetricsPage;
};

export function createServiceMetrics(): ServiceMetrics {
  const registry = createRegistry();
  return {
    appended: createAppendMetrics(registry),
    served: createHttpMetrics(registry),
    mail: createMailMetrics(registry),
    page: (parts) => {
      const sources: readonly GaugeSource[] = [
        ...createLogGauges(registry, parts.log, parts.isConnected),
        ...createReadModelGauges(registry, parts),
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
