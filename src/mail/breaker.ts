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
import { steadily } from "../domain/steady-waits.ts";
import type { BreakerState } from "../domain/unavailable.ts";
import type { Mailer, ProbeOutcome } from "./mailer.ts";

export type BrokenMailer = Mailer & {
  readonly state: () => BreakerState;
  /** Calls back with every change, so that work that waits for the mail server goes on at once. */
  readonly onChange: (changed: (state: BreakerState) => void) => () => void;
};

type Settings = {
  /** How many mails in a row must find the mail server unavailable before the breaker opens. */
  readonly threshold: number;
  /** The first wait before the mail server is probed again; it doubles up to `longestWaitMs`. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
};

const usual: Settings = { threshold: 5, firstWaitMs: 1000, longestWaitMs: 30_000 };
const probeEveryMs = 250;

/**
 * A mailer that stops using a mail server that is down for all mails. It probes now and then whether the server is back,
 * with no mail at stake, and then goes on by itself. Meanwhile it answers every mail as unavailable at once.
 */
export function withBreaker(mailer: Mailer, settings: Settings = usual): BrokenMailer {
  const { threshold, firstWaitMs, longestWaitMs } = settings;
  const waits = new ExponentialBackoff({ initialDelay: firstWaitMs, maxDelay: longestWaitMs });
  const policy = circuitBreaker(handleWhenResult(isUnavailable), {
    halfOpenAfter: steadily(waits, () => performance.now()),
    breaker: new ConsecutiveBreaker(threshold),
  });
  let lastError: JobError = { code: "smtp-unavailable", message: "The mail server is unavailable." };
  let probing: NodeJS.Timeout | null = null;
  let isAsking = false;
  let isClosed = false;

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
  const stopProbing = (): void => {
    if (probing !== null) clearInterval(probing);
    probing = null;
  };
  /** One probe at a time: those behind it would all connect at once when it has found the server back. */
  const probe = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    await guarded(mailer.probe).finally(() => {
      isAsking = false;
    });
  };
  policy.onBreak(() => {
    // A probe that fails after the mailer was closed breaks the circuit once more.
    if (!isClosed) probing ??= setInterval(() => void probe(), probeEveryMs);
  });
  policy.onReset(stopProbing);

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
      isClosed = true;
      stopProbing();
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
