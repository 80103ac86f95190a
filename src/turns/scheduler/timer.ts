import { createPollLoop, type PollLoop } from "../../process/poll-loop.ts";
import type { PutTurn } from "./scheduler.ts";
import type { WaitingList } from "./waiting-list.ts";

const pollEveryMs = 500;
const atOnce = 200;

/**
 * Puts turns whose time has come. Nothing waits inside a consumer: tens of thousands of delayed messages cost a NATS
 * server more than its real work, and arrive late.
 */
export function createTimer(put: PutTurn, waitingList: WaitingList, report: (failure: unknown) => void): PollLoop {
  const putOrReport: PutTurn = (turn) =>
    put(turn).catch((failure: unknown) => {
      report(failure);
      throw failure;
    });
  const poll = async () => ((await waitingList.takeDue(atOnce, putOrReport)) === atOnce ? "more" : "done");
  return createPollLoop({ poll, everyMs: pollEveryMs, report });
}
