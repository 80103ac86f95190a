import { Unavailable } from "../../src/domain/unavailable.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import type { Listening } from "../../src/event-log/following/active-process.ts";
import type { CheckpointStore } from "../../src/event-log/following/checkpoint-store.ts";
import { createListening, type Listener } from "../../src/event-log/following/listener.ts";
import { createMailingListener } from "../../src/mailings/follow-mailings.ts";
import { chanceOf } from "./chance-of.ts";
import { emptyOutbox } from "./empty-outbox.ts";
import { emptySuppressions } from "./empty-suppressions.ts";
import type { Stored } from "./mailings.ts";
import { createMemoryResultStore } from "./memory/memory-result-store.ts";

/** A log that does not answer now and then, whether or not it did what it was asked to. */
export function unreliable(log: EventLog, seed: number): EventLog {
  const chance = chanceOf(seed);
  const fails = (): boolean => chance(20) === 0;
  const sometimes =
    <Given extends readonly unknown[], Result>(ask: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      if (fails()) throw new Unavailable("It did not answer.");
      const result = await ask(...given);
      if (fails()) throw new Unavailable("The answer was lost.");
      return result;
    };
  return {
    ...log,
    append: sometimes(log.append),
    readMailing: sometimes(log.readMailing),
    readDecisions: sometimes(log.readDecisions),
    readHistory: sometimes(log.readHistory),
  };
}

/** What a process does about the events that it is given. */
export function mailingListenerOf(stored: Stored, hasRoom = () => true): Listener {
  const erasing = { results: createMemoryResultStore(), outbox: emptyOutbox, suppressions: emptySuppressions };
  const room = { isLeftForJobs: async () => hasRoom() };
  return createMailingListener({ ...stored, ...erasing, room, report: () => {} });
}

/** A process that makes the parts of mailings; with a seed, on a log that falters. */
export function followMailings(stored: Stored, checkpoints: CheckpointStore, seed: number | null): Listening {
  const log = seed === null ? stored.log : unreliable(stored.log, seed);
  const listener = { ...mailingListenerOf({ ...stored, log }), tryAgainMs: 5 };
  const listening = createListening({ log: stored.log, checkpoints, report: () => {} }, listener);
  listening.start();
  return listening;
}
