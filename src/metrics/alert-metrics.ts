import { Counter, Gauge, type Registry } from "prom-client";
import { type AlertName, alertNames } from "../domain/alerts/events.ts";
import { named } from "./registry.ts";

export type AlertMetrics = {
  /** Called after each check of the service with the alerts that are raised. */
  readonly seen: (raised: ReadonlySet<AlertName>) => void;
  /** Called after each attempt to send a notification of an alert. */
  readonly notified: (receiver: string, outcome: string) => void;
};

/** Only processes that check for alerts have these metrics. All of them show the same alerts, because they are in the log. */
export function createAlertMetrics(registry: Registry): () => AlertMetrics {
  const registers = [registry];
  return () => {
    const active = new Gauge({
      ...named(
        "alert_active",
        "1 while an alert is raised: the share of failed mails, jobs that gave up, open dead letters, the oldest waiting job, read models that are behind. The measured value, with its unit, is in the log and in GET /api/admin/events.",
      ),
      labelNames: ["alert"],
      registers,
    });
    const messages = new Counter({
      ...named(
        "alert_messages_total",
        "Attempts to notify a receiver of an alert: told (delivered), later (to be retried), given_up.",
      ),
      labelNames: ["receiver", "outcome"],
      registers,
    });
    // Prometheus sees an increase only in a counter that it has read before.
    for (const receiver of ["webhook", "mail"]) messages.inc({ receiver, outcome: "given_up" }, 0);
    return {
      seen: (raised) => {
        for (const alert of alertNames) active.set({ alert }, raised.has(alert) ? 1 : 0);
      },
      notified: (receiver, outcome) => messages.inc({ receiver, outcome }),
    };
  };
}
