import type { Logger } from "pino";
import type { WaybillEvent } from "../event-log/event-log.ts";
import type { Append } from "../event-log/observe-appends.ts";
import { traceIdOf } from "../event-log/traceparent.ts";

/** What is done without a request that has a line of its own, by how often it happens. */
const levels: Partial<Record<WaybillEvent["type"], "info" | "debug">> = {
  JobQueued: "debug",
  JobStarted: "info",
  JobRetryScheduled: "info",
  JobCompleted: "info",
  JobFailed: "info",
  WebhookDelivered: "info",
  WebhookFailed: "info",
};

/** One line for each step of a job that this process took, with the request and the trace that it all began with. */
export const logAppends =
  (logger: Logger) =>
  ({ job, event, cause, outcome }: Append): void => {
    const level = levels[event.type];
    if (level === undefined || outcome !== "stored") return;
    const turn = "run" in event.data && "attempt" in event.data ? toTurn(event.data) : {};
    const requestId = cause.correlationId ?? undefined;
    const traceId = traceIdOf(cause.traceparent);
    logger[level]({ jobId: job.jobId, tenant: job.tenant, event: event.type, ...turn, requestId, traceId }, "recorded");
  };

const toTurn = ({ run, attempt }: { readonly run: number; readonly attempt: number }) => ({ run, attempt });
