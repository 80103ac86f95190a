import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { eventLogContract } from "./event-log-contract.ts";

describe("the event log in memory", () => {
  const log = createMemoryEventLog();
  eventLogContract(() => log);
});
