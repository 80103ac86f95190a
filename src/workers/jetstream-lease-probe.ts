import { ErrorCode, NatsError } from "nats";
import type { JetStreamConnection } from "../nats/connection.ts";
import { startOf } from "../nats/names.ts";
import type { LeaseProbe, WorkOfWorker } from "./lease.ts";

const timeoutMs = 1000;
/** One answer may get lost, and a live worker must not lose its job over that. */
const questions = 2;

export function createJetStreamLeaseProbe({ nats }: JetStreamConnection, prefix: string): LeaseProbe {
  const start = startOf(prefix);
  const subjectOf = (worker: string): string => `${start}waybill.worker.${worker}`;
  return {
    answerFor: (worker, isRunning) => {
      const subscription = nats.subscribe(subjectOf(worker), {
        callback: (_, message) => message.respond(isRunning(message.json<WorkOfWorker>()) ? "yes" : "no"),
      });
      return () => {
        if (!nats.isClosed()) subscription.unsubscribe();
      };
    },
    ask: async (worker, { tenant, jobId, help }) => {
      const question = JSON.stringify({ tenant, jobId, help });
      for (let asked = 0; asked < questions; asked += 1) {
        try {
          const answer = await nats.request(subjectOf(worker), question, { timeout: timeoutMs });
          return answer.string() === "yes" ? "running" : "over";
        } catch (failure) {
          // Where no worker listens, the server reports it at once.
          if (!(failure instanceof NatsError) || failure.code !== ErrorCode.Timeout) return "silent";
        }
      }
      return "silent";
    },
  };
}
