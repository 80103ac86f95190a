import { Gauge, Histogram, type Registry } from "prom-client";
import type { RouteState } from "../domain/recipients/route-state.ts";
import type { BreakerState } from "../domain/unavailable.ts";
import type { Mailer } from "../mail/mailer.ts";
import { named } from "./registry.ts";

/** Ordered for dashboards: the higher, the worse. */
const stateNumbers: Readonly<Record<BreakerState, number>> = { closed: 0, "half-open": 1, open: 2 };

export type MailMetrics = {
  /** Wraps the mailer of a mail route: times its mails and counts those in flight. */
  measure(mailer: Mailer, route: string): Mailer;
  watchRoutes(routes: () => readonly RouteState[]): void;
  /** `count` is the number of receivers that this process slows down. */
  watchThrottles(count: () => number): void;
};

/** Only processes that send mail have these metrics; elsewhere they would be meaningless zeros. */
export function createMailMetrics(registry: Registry): MailMetrics {
  const registers = [registry];
  /** Counted here, and shown when the page is asked for: the labels of a metric cost more than what is counted. */
  const connectionsOf = new Map<string, { busy: number; limit: number }>();
  const createSending = () => {
    new Gauge({
      ...named("smtp_connections", "Connections of a mail route: those with a mail in flight, and the limit."),
      labelNames: ["state", "route"],
      registers,
      collect() {
        for (const [route, { busy, limit }] of connectionsOf) {
          this.set({ state: "busy", route }, busy);
          this.set({ state: "limit", route }, limit);
        }
      },
    });
    return new Histogram({
      ...named(
        "message_send_seconds",
        "Time from the sending of a mail to the answer of the mail server, by outcome and mail route.",
      ),
      labelNames: ["outcome", "route"],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30],
      registers,
    });
  };
  let sending: ReturnType<typeof createSending> | null = null;
  return {
    measure: (mailer, route) => {
      sending ??= createSending();
      const seconds = sending;
      // A route whose account changed has two mailers for a while: both count.
      const connections = connectionsOf.get(route) ?? { busy: 0, limit: 0 };
      connectionsOf.set(route, connections);
      connections.limit = mailer.connections;
      return {
        ...mailer,
        send: async (mail) => {
          connections.busy += 1;
          const began = performance.now();
          try {
            const outcome = await mailer.send(mail);
            seconds.observe({ outcome: outcome.kind, route }, (performance.now() - began) / 1000);
            return outcome;
          } finally {
            connections.busy -= 1;
          }
        },
      };
    },
    watchThrottles: (count) => {
      new Gauge({
        ...named("receivers_throttled", "Receivers of mail that have asked for patience and get fewer mails now."),
        registers,
        collect() {
          this.set(count());
        },
      });
    },
    watchRoutes: (routes) => {
      const gaugeOf = (name: string, help: string, value: (route: RouteState) => number) =>
        new Gauge({
          ...named(name, help),
          labelNames: ["route"],
          registers,
          collect() {
            // A route that was removed is gone from the page.
            this.reset();
            for (const state of routes()) this.set({ route: state.name }, value(state));
          },
        });
      gaugeOf(
        "smtp_breaker_state",
        "0 the mail route is used; 1 its server is tried, after it was away or the worker has started; 2 (open) it counts as down, and no mail is sent by it.",
        // A worker that starts during an outage probes the server, and gives its breaker no mail to count.
        ({ breaker, isUsable }) => Math.max(stateNumbers[breaker], isUsable ? 0 : stateNumbers["half-open"]),
      );
      gaugeOf(
        "mail_route_waiting",
        "Mails that wait for their turn under the rate of the mail route.",
        ({ waiting }) => waiting,
      );
    },
  };
}
