import type { JobError } from "../domain/job/events.ts";
import { isAnswer, type SendOutcome } from "../domain/recipients/events.ts";
import type { BreakerState } from "../domain/unavailable.ts";
import type { Mailer } from "./mailer.ts";

export type BrokenMailer = Mailer & {
  readonly state: () => BreakerState;
  /** Calls back with every change, so that work that waits for the mail server goes on at once. */
  readonly onChange: (changed: (state: BreakerState) => void) => () => void;
};

type Settings = {
  /** How many mails must find the mail server unavailable, without an answer in between, before the breaker opens. */
  readonly threshold: number;
  /** The first wait before the mail server is probed again; it doubles up to `longestWaitMs`. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
};

const usual: Settings = { threshold: 5, firstWaitMs: 1000, longestWaitMs: 30_000 };

/**
 * A mailer that stops using a mail server that is down for all mails. It probes now and then whether the server is back,
 * with no mail at stake, and then goes on by itself. Meanwhile it answers every mail as unavailable at once. It measures no
 * time by the clock, which may be set back by hours while a machine starts.
 */
export function withBreaker(mailer: Mailer, settings: Settings = usual): BrokenMailer {
  const { threshold, firstWaitMs, longestWaitMs } = settings;
  const listeners = new Set<(state: BreakerState) => void>();
  let state: BreakerState = "closed";
  let lastError: JobError = { code: "smtp-unavailable", message: "The mail server is unavailable." };
  let inRow = 0;
  let waitMs = firstWaitMs;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const become = (next: BreakerState): void => {
    state = next;
    for (const changed of [...listeners]) changed(next);
  };
  const open = (): void => {
    // A probe, or a mail, that fails after the mailer was closed opens nothing.
    if (isClosed) return;
    timer = setTimeout(() => void probe(), waitMs);
    waitMs = Math.min(2 * waitMs, longestWaitMs);
    become("open");
  };
  const probe = async (): Promise<void> => {
    become("half-open");
    const outcome = await mailer.probe();
    if (outcome.kind === "unavailable") {
      lastError = outcome.error;
      return open();
    }
    [inRow, waitMs] = [0, firstWaitMs];
    become("closed");
  };
  const count = (outcome: SendOutcome): void => {
    if (isAnswer(outcome)) inRow = 0;
    if (outcome.kind !== "unavailable") return;
    lastError = outcome.error;
    inRow += 1;
    if (state === "closed" && inRow >= threshold) open();
  };

  return {
    connections: mailer.connections,
    send: async (mail) => {
      if (state !== "closed") return { kind: "unavailable", error: lastError };
      const outcome = await mailer.send(mail);
      count(outcome);
      return outcome;
    },
    probe: mailer.probe,
    state: () => state,
    onChange: (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await mailer.close();
    },
  };
}
