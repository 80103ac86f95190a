import { Gauge, Histogram, type Registry } from "prom-client";
import type { BreakerState } from "../domain/unavailable.ts";
import type { Mailer } from "../mail/mailer.ts";
import { named } from "./registry.ts";

/** Ordered for dashboards: the higher, the worse. */
const stateNumbers: Readonly<Record<BreakerState, number>> = { closed: 0, "half-open": 1, open: 2 };

export type MailMetrics = {
  /** Wraps the mailer: times its mails and counts those in flight. */
  measure(mailer: Mailer): Mailer;
  watchBreaker(state: () => BreakerState): void;
};

/** Only processes that send mail have these metrics; elsewhere they would be meaningless zeros. */
export function createMailMetrics(registry: Registry): MailMetrics {
  const registers = [registry];
  return {
    measure: (mailer) => {
      const seconds = new Histogram({
        ...named(
          "message_send_seconds",
          "Time from the sending of a mail to the answer of the mail server, by outcome.",
        ),
        labelNames: ["outcome"],
        buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30],
        registers,
      });
      const connections = new Gauge({
        ...named("smtp_connections", "Connections to the mail server: those with a mail in flight, and the limit."),
        labelNames: ["state"],
        registers,
      });
      connections.set({ state: "busy" }, 0);
      connections.set({ state: "limit" }, mailer.connections);
      return {
        ...mailer,
        send: async (mail) => {
          connections.inc({ state: "busy" });
          const began = performance.now();
          try {
            const outcome = await mailer.send(mail);
            seconds.observe({ outcome: outcome.kind }, (performance.now() - began) / 1000);
            return outcome;
          } finally {
            connections.dec({ state: "busy" });
          }
        },
      };
    },
    watchBreaker: (state) => {
      new Gauge({
        ...named(
          "smtp_breaker_state",
          "0 closed, 1 half-open (trying), 2 open: the mail server counts as down, and no mail is sent.",
        ),
        registers,
        collect() {
          this.set(stateNumbers[state()]);
        },
      });
    },
  };
}
