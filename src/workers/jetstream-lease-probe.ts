import type { JobRef } from "../event-log/event-log.ts";
import type { JetStreamConnection } from "../event-log/jetstream-connection.ts";
import type { LeaseProbe } from "./lease-probe.ts";

const timeoutMs = 1000;

export function createJetStreamLeaseProbe({ nats }: JetStreamConnection, prefix: string): LeaseProbe {
  const subjectOf = (worker: string): string => `${prefix === "" ? "" : `${prefix}.`}waybill.worker.${worker}`;
  return {
    answerFor: (worker, isRunning) => {
      const subscription = nats.subscribe(subjectOf(worker), {
        callback: (_, message) => message.respond(isRunning(message.json<JobRef>()) ? "yes" : "no"),
      });
      return () => {
        if (!nats.isClosed()) subscription.unsubscribe();
      };
    },
    isRunning: async (worker, { tenant, jobId }) => {
      try {
        const question = JSON.stringify({ tenant, jobId });
        return (await nats.request(subjectOf(worker), question, { timeout: timeoutMs })).string() === "yes";
      } catch {
        return false;
      }
    },
  };
}
