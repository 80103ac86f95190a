import { Counter, Gauge, type Registry } from "prom-client";
import { type AlertName, alertNames } from "../domain/alerts/events.ts";
import { named } from "./registry.ts";

export type AlertMetrics = {
  /** After a look at the service: which alerts are raised. */
  readonly seen: (raised: ReadonlySet<AlertName>) => void;
  /** After telling somebody of one, or failing to. */
  readonly told: (receiver: string, outcome: string) => void;
};

/** Only processes that look have these; every one of them shows the same alerts, as the log has them. */
export function createAlertMetrics(registry: Registry): () => AlertMetrics {
  const registers = [registry];
  return () => {
    const active = new Gauge({
      ...named(
        "alert_active",
        "1 while an alert is raised, as the event log has it: of the share of mails that failed, of jobs that gave up, of dead letters that are open, of the oldest waiting job, of read models that are behind. What was found, with its unit, is in the log and in GET /api/admin/events.",
      ),
      labelNames: ["alert"],
      registers,
    });
    const messages = new Counter({
      ...named("alert_messages_total", "Tries to tell the operator of an alert: told, tried again later, given up."),
      labelNames: ["receiver", "outcome"],
      registers,
    });
    return {
      seen: (raised) => {
        for (const alert of alertNames) active.set({ alert }, raised.has(alert) ? 1 : 0);
      },
      told: (receiver, outcome) => messages.inc({ receiver, outcome }),
    };
  };
}
