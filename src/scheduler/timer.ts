import type { EventLog } from "../event-log/event-log.ts";
import { createPollLoop, type PollLoop } from "../poll-loop.ts";
import type { OverflowLanes } from "./overflow-lanes.ts";
import { toQueued } from "./scheduler.ts";
import type { DueTurn, WaitingList } from "./waiting-list.ts";

type Report = (failure: unknown) => void;

const pollEveryMs = 500;
const atOnce = 200;

/**
 * Queues turns whose time has come. Nothing waits inside a consumer of the log: tens of thousands of delayed messages cost
 * a NATS server more than its real work, and arrive late.
 */
export function createTimer(log: EventLog, waitingList: WaitingList, lanes: OverflowLanes, report: Report): PollLoop {
  const queue = async ({ turn, cause, tenant, jobId }: DueTurn): Promise<void> => {
    try {
      const placed = lanes.place({ tenant, jobId }, turn);
      await log.record({ tenant, jobId }, [toQueued({ ...cause, jobId }, placed)]);
    } catch (failure) {
      report(failure);
      throw failure;
    }
  };

  const poll = async () => ((await waitingList.takeDue(atOnce, queue)) === atOnce ? "more" : "done");

  return createPollLoop({ poll, everyMs: pollEveryMs, report });
}
