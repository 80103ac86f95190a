import { openShutLog } from "../event-log/jetstream-log-limits.ts";
import { streamName } from "../event-log/subjects.ts";
import { isPassingOutage } from "../nats/outages.ts";
import { untilInterrupted, WaitInterrupted } from "../nats/patience.ts";
import { createOutageReport } from "../process/logger.ts";
import { createPollLoop } from "../process/poll-loop.ts";
import type { Parts } from "./parts.ts";

const lookEveryMs = 1000;

/**
 * Opens the log where `waybill archive` died after it had shut it, within some seven seconds and in whichever scheduler
 * comes first, so that the service takes jobs again without an operator. Other roles do not look: each that does costs
 * the log's leader a question a second.
 */
export function watchForShutLog({ config, logger, connection, lifecycle }: Parts): void {
  const stream = streamName(config.natsPrefix, "JOBS");
  const { failed } = createOutageReport(logger, { part: "limits of the log" });
  const loop = createPollLoop({
    everyMs: lookEveryMs,
    poll: async (stopping) => {
      const isOpened = await untilInterrupted(openShutLog(connection, stream), stopping);
      if (isOpened) logger.warn({ stream }, "log was shut, and is open again: waybill archive did not end its work");
      return "done";
    },
    report: (failure) => {
      if (!isPassingOutage(failure) && !(failure instanceof WaitInterrupted)) failed(failure);
    },
  });
  loop.start();
  lifecycle.started("the watch for a shut log", loop.stop);
}
