import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";

/** The log as a worker uses it, which can be away for a while. */
export function withOutages(log: EventLog): { readonly log: EventLog; readonly goAway: (forMs: number) => void } {
  let isAway = false;
  const orAway =
    <Given extends unknown[], Answer>(step: (...given: Given) => Promise<Answer>) =>
    (...given: Given): Promise<Answer> =>
      isAway ? Promise.reject(new Unavailable("The log is away.")) : step(...given);
  return {
    log: {
      ...log,
      append: orAway(log.append),
      record: orAway(log.record),
      readDecisions: orAway(log.readDecisions),
      lastDecision: orAway(log.lastDecision),
      readRecipients: orAway(log.readRecipients),
    },
    goAway: (forMs) => {
      isAway = true;
      setTimeout(() => {
        isAway = false;
      }, forMs);
    },
  };
}
