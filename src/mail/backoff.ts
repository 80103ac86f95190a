import { isAnswer, type SendOutcome } from "../domain/recipients/events.ts";
import type { BrokenMailer } from "./breaker.ts";
import type { Mailer } from "./mailer.ts";

/** What is known of the mail server: nothing yet, that it is down, that it accepts connections, or that it answers mails. */
export type Standing = "unknown" | "away" | "lets-in" | "answers";

export type Backoff = {
  /** The same mailer, with its outcomes observed. */
  readonly mailer: Mailer;
  readonly standing: () => Standing;
  /** Probes the mail server, with no mail at stake, until it accepts a connection, and again whenever it was found down. */
  start(): void;
  stop(): void;
};

const firstWaitMs = 500;
const longestWaitMs = 30_000;

/**
 * The breaker counts failed mails, so a worker that has just started would send some into an outage that other workers
 * have known of for hours, and a worker that restarts again and again would use up the attempts of one job after another.
 * The backoff knows less, but sooner: whether the mail server has answered for a mail since it was last found down.
 */
export function createBackoff(mailer: BrokenMailer, onChange: () => void): Backoff {
  let standing: Standing = "unknown";
  let waitMs = firstWaitMs;
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;

  const become = (next: Standing): void => {
    if (standing === next) return;
    standing = next;
    onChange();
  };
  const probeIn = (delayMs: number): void => {
    if (isStopped || timer !== null) return;
    timer = setTimeout(() => void probe(), delayMs);
  };
  const probe = async (): Promise<void> => {
    // An open breaker probes by itself, and reports when it closes.
    const isNeeded = standing !== "answers" && standing !== "lets-in" && mailer.state() === "closed";
    const outcome = isNeeded ? await mailer.probe() : null;
    timer = null;
    if (outcome === null || standing === "answers") return;
    if (outcome.kind === "ready") become("lets-in");
    else foundDown();
  };
  const foundDown = (): void => {
    become("away");
    if (timer !== null) return;
    probeIn(waitMs);
    // Only an answer for a mail resets the wait: some servers accept every connection and no mail.
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  };
  const observe = (outcome: SendOutcome): void => {
    if (outcome.kind === "unavailable") foundDown();
    if (!isAnswer(outcome)) return;
    waitMs = firstWaitMs;
    become("answers");
  };

  const stopListening = mailer.onChange((state) => {
    // The probe of the breaker succeeded, as it would every second with a server that accepts no mail: wait longer.
    if (state === "closed" && standing === "away") probeIn(waitMs);
  });
  return {
    mailer: {
      connections: mailer.connections,
      probe: mailer.probe,
      close: mailer.close,
      send: async (mail) => {
        const outcome = await mailer.send(mail);
        observe(outcome);
        return outcome;
      },
    },
    standing: () => standing,
    start: () => probeIn(0),
    stop: () => {
      isStopped = true;
      stopListening();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
