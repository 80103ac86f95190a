import { Gauge, type Registry } from "prom-client";
import type { ProjectionLag } from "../../projections/following/projection-lag.ts";
import type { StatsQueries } from "../../projections/jobs/stats/queries.ts";
import type { JobStatus } from "../domain/job/job-view.ts";
import type { GaugeSource } from "./refreshed-gauges.ts";
import { named } from "./registry.ts";

export type ReadModels = {
  readonly stats: StatsQueries;
  readonly projectionLags: () => Promise<readonly ProjectionLag[]>;
};

/** Figures from the read models over all tenants; every process that has these metrics shows the same values. */
export const createReadModelGauges = (
  registry: Registry,
  { stats, projectionLags }: ReadModels,
): readonly GaugeSource[] => [jobGauges([registry], stats), lagGauges([registry], projectionLags)];

/** Unsent mails of failed and cancelled jobs do not count: they wait for nothing. */
const unsentStates = {
  queued: ["pending", "queued"],
  scheduled: ["scheduled"],
  retry: ["retrying"],
  paused: ["paused"],
  processing: ["processing"],
} as const satisfies Readonly<Record<string, readonly JobStatus[]>>;

function jobGauges(registers: Registry[], stats: StatsQueries): GaugeSource {
  const jobs = new Gauge({ ...named("jobs", "Jobs by status."), labelNames: ["state"], registers });
  const messages = new Gauge({
    ...named("messages_pending", "Mails that are still to be sent, by what their job waits for."),
    labelNames: ["state"],
    registers,
  });
  const waiting = new Gauge({
    ...named("jobs_waiting", "Jobs that could start if a worker took them."),
    labelNames: ["priority"],
    registers,
  });
  const oldest = new Gauge({
    ...named("oldest_pending_age_seconds", "How long the longest waiting of these jobs has waited; 0 if none waits."),
    labelNames: ["priority"],
    registers,
  });
  return {
    gauges: [jobs, messages, waiting, oldest],
    ask: async () => {
      const now = Date.now();
      const found = await stats.read(null, new Date(now).toISOString(), []);
      return () => {
        for (const [state, count] of found.jobs) jobs.set({ state }, count);
        for (const [state, statuses] of Object.entries(unsentStates)) {
          messages.set(
            { state },
            statuses.reduce((sum, status) => sum + (found.unsent.get(status) ?? 0), 0),
          );
        }
        for (const [priority, { jobs: count, oldestSince }] of found.waiting) {
          waiting.set({ priority }, count);
          oldest.set({ priority }, oldestSince === null ? 0 : Math.max(0, (now - Date.parse(oldestSince)) / 1000));
        }
      };
    },
  };
}

function lagGauges(registers: Registry[], projectionLags: ReadModels["projectionLags"]): GaugeSource {
  const labelNames = ["projection"];
  const position = new Gauge({
    ...named("projection_position", "Sequence in the log of the last event that a read model holds."),
    labelNames,
    registers,
  });
  const events = new Gauge({
    ...named("projection_lag_events", "How many positions of the log a read model is behind."),
    labelNames,
    registers,
  });
  const seconds = new Gauge({
    ...named("projection_lag_seconds", "Age of the first event that a read model does not hold yet."),
    labelNames,
    registers,
  });
  return {
    gauges: [position, events, seconds],
    ask: async () => {
      const lags = await projectionLags();
      return () => {
        for (const { projection, sequence, lagEvents, lagSeconds } of lags) {
          position.set({ projection }, sequence);
          if (lagEvents !== null) events.set({ projection }, lagEvents);
          if (lagSeconds !== null) seconds.set({ projection }, lagSeconds);
        }
      };
    },
  };
}
