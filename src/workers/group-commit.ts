import type { RecipientEvent } from "../domain/recipients/events.ts";
import { maxEventsOfEntry, type NewEntry, type NewEvent } from "../event-log/event-log.ts";

type RecipientFact = NewEvent<RecipientEvent>;

/** An event that is not stored yet. */
type Waiting = {
  readonly event: RecipientFact;
  readonly written: () => void;
  readonly stored: () => void;
  readonly failed: (failure: unknown) => void;
};

/** What is known of one event: `written` once its entry is on its way to the log, `stored` once the log has it. */
export type Committing = { readonly written: Promise<void>; readonly stored: Promise<void> };

export type GroupCommit = {
  /** Stores the event with the next entry. */
  add(event: RecipientFact): Committing;
  /** Lets the next entry leave as soon as none is on its way. */
  hurry(): void;
  /**
   * Waits until no entry is on its way, and hands over the events that still wait, at most `limit`, for the caller to
   * store. `settle` says that they are stored, or why not. Throws if an entry before them could not be stored.
   */
  takeRest(limit: number): Promise<Rest>;
};

export type Rest = {
  readonly events: readonly RecipientFact[];
  /** Without a failure the events are stored. */
  settle(failure?: unknown): void;
};

/** An entry that is not full leaves after this. */
const waitMs = 5;

/**
 * Stores the events of one job in entries. While one entry is on its way, what becomes known joins the next: the slower
 * the log answers, the larger the entries become. Entries leave in order, one at a time; a full one leaves at once.
 */
export function createGroupCommit(
  store: (entry: NewEntry<RecipientEvent>) => Promise<unknown>,
  fullSize: number,
): GroupCommit {
  const waiting: Waiting[] = [];
  const full = Math.min(fullSize, maxEventsOfEntry);
  let onItsWay: Promise<void> | null = null;
  let failure: { readonly cause: unknown } | null = null;
  let isUrgent = false;
  let timer: NodeJS.Timeout | null = null;

  const stopTimer = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  const send = (): void => {
    stopTimer();
    if (onItsWay !== null) return;
    const group = waiting.splice(0, maxEventsOfEntry);
    const [first, ...others] = group.map(({ event }) => event);
    isUrgent = waiting.length > 0 && isUrgent;
    if (first === undefined) return;
    for (const { written } of group) written();
    onItsWay = store([first, ...others])
      .then(
        () => {
          for (const { stored } of group) stored();
        },
        (cause: unknown) => {
          failure ??= { cause };
          for (const { failed } of group) failed(cause);
        },
      )
      .finally(() => {
        onItsWay = null;
        look();
      });
  };
  const look = (): void => {
    if (onItsWay !== null || waiting.length === 0) return;
    if (isUrgent || waiting.length >= full) send();
    else timer ??= setTimeout(send, waitMs);
  };

  return {
    add: (event) => {
      let [written, stored, failed]: [() => void, () => void, (failure: unknown) => void] = [noop, noop, noop];
      const committing = {
        written: new Promise<void>((resolve) => {
          written = resolve;
        }),
        stored: new Promise<void>((resolve, reject) => {
          [stored, failed] = [resolve, reject];
        }),
      };
      // A caller may look at it later, or never: the failure is also kept here.
      committing.stored.catch(noop);
      waiting.push({ event, written, stored, failed });
      look();
      return committing;
    },
    hurry: () => {
      isUrgent = waiting.length > 0;
      look();
    },
    takeRest: async (limit) => {
      stopTimer();
      while (onItsWay !== null || waiting.length > limit) {
        if (onItsWay === null) send();
        await onItsWay;
      }
      if (failure !== null) throw failure.cause;
      stopTimer();
      const rest = waiting.splice(0);
      return {
        events: rest.map(({ event }) => event),
        settle: (cause) => {
          for (const { written, stored, failed } of rest) {
            written();
            if (cause === undefined) stored();
            else failed(cause);
          }
        },
      };
    },
  };
}

const noop = (): void => {};
