import { isAnswer, type SendOutcome } from "../../domain/recipients/events.ts";
import type { RouteState } from "../../domain/recipients/route-state.ts";
import { type Backoff, createBackoff, type Standing } from "../backoff.ts";
import type { BrokenMailer } from "../breaker.ts";
import type { Mail } from "../mailer.ts";
import { createPace, type Pace } from "../pace.ts";
import type { MailRoute } from "./mail-route.ts";

/** One route in this process: its connections, its breaker, its pace, and what became of its mails. */
export type RouteRun = {
  readonly name: string;
  readonly mailer: BrokenMailer;
  readonly pace: Pace;
  readonly standing: () => Standing;
  /** Whether a mail may be given to it while another route would also carry it. */
  readonly isUsable: () => boolean;
  /** Whether a job that no other route may carry can begin. One job in a while tries a server that was down. */
  readonly mayBegin: () => boolean;
  readonly send: (mail: Mail) => Promise<SendOutcome>;
  readonly inFlight: () => number;
  readonly look: () => RouteState;
  readonly start: () => void;
  /** Stops the probes of the server. */
  readonly stop: () => void;
  /**
   * Takes no more mails: those that wait for their turn go on at once, to another route. The connections close once the mails
   * in flight have ended.
   */
  readonly retire: () => void;
  readonly isRetired: () => boolean;
  readonly close: () => Promise<void>;
};

/** How long one job alone tries a server that accepts connections and has answered for no mail since it was down. */
const trialMs = 5000;

export function createRouteRun({ name }: MailRoute, mailer: BrokenMailer, changed: () => void): RouteRun {
  const counts = { sent: 0, failed: 0, deferred: 0, unknown: 0, unavailable: 0 };
  const backoff: Backoff = createBackoff(mailer, changed);
  const stopListening = mailer.onChange(changed);
  const pace = createPace(null);
  let inFlight = 0;
  let wasAway = false;
  let isRetired = false;
  let triedAt = Number.NEGATIVE_INFINITY;
  let closing: Promise<void> | null = null;

  const close = (): Promise<void> => {
    backoff.stop();
    stopListening();
    closing ??= mailer.close();
    return closing;
  };
  const observe = (outcome: SendOutcome): void => {
    counts[outcome.kind] += 1;
    if (outcome.kind === "unavailable") wasAway = true;
    else if (isAnswer(outcome)) wasAway = false;
  };
  const isOpen = (): boolean => !isRetired && mailer.state() === "closed";

  const isUsable = (): boolean => {
    if (!isOpen()) return false;
    const standing = backoff.standing();
    // A server that was down gets one mail at a time, until it has answered for one.
    return standing === "answers" || (standing === "lets-in" && !(wasAway && inFlight > 0));
  };

  return {
    name,
    mailer,
    pace,
    standing: backoff.standing,
    isUsable,
    mayBegin: () => {
      const standing = backoff.standing();
      if (!isOpen() || standing === "away") return false;
      if (!wasAway || standing === "answers") return true;
      const now = performance.now();
      if (now - triedAt < trialMs) return false;
      triedAt = now;
      return true;
    },
    send: async (mail) => {
      inFlight += 1;
      try {
        const outcome = await backoff.mailer.send(mail);
        observe(outcome);
        return outcome;
      } finally {
        inFlight -= 1;
        if (isRetired && inFlight === 0) void close();
      }
    },
    inFlight: () => inFlight,
    look: () => ({
      name,
      breaker: mailer.state(),
      isUsable: isUsable(),
      inFlight,
      share: pace.rate(),
      waiting: pace.waiting(),
      counts: { ...counts },
    }),
    start: backoff.start,
    stop: backoff.stop,
    retire: () => {
      isRetired = true;
      backoff.stop();
      pace.setRate(null);
      if (inFlight === 0) void close();
    },
    isRetired: () => isRetired,
    close,
  };
}
