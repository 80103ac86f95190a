import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhenResult,
} from "cockatiel";
import type { JobError } from "../domain/job/events.ts";
import type { SendOutcome } from "../domain/recipients/events.ts";
import type { BreakerState } from "../domain/unavailable.ts";
import type { Mailer, ProbeOutcome } from "./mailer.ts";

export type BrokenMailer = Mailer & {
  readonly state: () => BreakerState;
  /** Calls back with every change, so that whoever waits for the mail server goes on at once. */
  readonly onChange: (changed: (state: BreakerState) => void) => () => void;
};

type Settings = {
  /** Mails in a row that found the mail server unavailable, before nobody asks it any more. */
  readonly threshold: number;
  /** The first wait before it is looked at again; it doubles up to `longestWaitMs`. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
};

const usual: Settings = { threshold: 5, firstWaitMs: 1000, longestWaitMs: 30_000 };
const lookEveryMs = 250;

/**
 * A mailer that stops asking a mail server which is down for everybody, looks now and then whether it is back, with no
 * mail at stake, and goes on by itself. Meanwhile every mail is answered as unavailable at once.
 */
export function withBreaker(mailer: Mailer, settings: Settings = usual): BrokenMailer {
  const { threshold, firstWaitMs, longestWaitMs } = settings;
  const policy = circuitBreaker(handleWhenResult(isUnavailable), {
    halfOpenAfter: new ExponentialBackoff({ initialDelay: firstWaitMs, maxDelay: longestWaitMs }),
    breaker: new ConsecutiveBreaker(threshold),
  });
  let lastError: JobError = { code: "smtp-unavailable", message: "The mail server is unavailable." };
  let looking: NodeJS.Timeout | null = null;

  const guarded = async <Outcome extends SendOutcome | ProbeOutcome>(
    step: () => Promise<Outcome>,
  ): Promise<Outcome | Unavailable> => {
    try {
      const outcome = await policy.execute(step);
      if (isUnavailable(outcome)) lastError = outcome.error;
      return outcome;
    } catch (failure) {
      if (failure instanceof BrokenCircuitError) return { kind: "unavailable", error: lastError };
      throw failure;
    }
  };
  const stopLooking = (): void => {
    if (looking !== null) clearInterval(looking);
    looking = null;
  };
  policy.onBreak(() => {
    looking ??= setInterval(() => void guarded(mailer.probe), lookEveryMs);
  });
  policy.onReset(stopLooking);

  const state = (): BreakerState => stateNames[policy.state];
  return {
    connections: mailer.connections,
    send: (mail) => guarded(() => mailer.send(mail)),
    probe: mailer.probe,
    state,
    onChange: (changed) => {
      const { dispose } = policy.onStateChange(() => changed(state()));
      return dispose;
    },
    close: async () => {
      stopLooking();
      await mailer.close();
    },
  };
}

type Unavailable = Extract<SendOutcome, { kind: "unavailable" }>;

const isUnavailable = (outcome: unknown): outcome is Unavailable =>
  (outcome as SendOutcome | ProbeOutcome).kind === "unavailable";

const stateNames: Readonly<Record<CircuitState, BreakerState>> = {
  [CircuitState.Closed]: "closed",
  [CircuitState.HalfOpen]: "half-open",
  [CircuitState.Open]: "open",
  [CircuitState.Isolated]: "open",
};
