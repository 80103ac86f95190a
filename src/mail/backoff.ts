import type { SendOutcome } from "../domain/recipients/events.ts";
import type { BrokenMailer } from "./breaker.ts";
import type { Mailer } from "./mailer.ts";

/** What is known about the mail server: nothing yet, that it is away, that it lets us in, that it answers for mails. */
export type Standing = "unknown" | "away" | "lets-in" | "answers";

export type Backoff = {
  /** The same mailer, whose outcomes are listened to. */
  readonly mailer: Mailer;
  readonly standing: () => Standing;
  /** Looks at the mail server, with no mail at stake, until it has let us in, and again whenever it was found away. */
  start(): void;
  stop(): void;
};

const firstWaitMs = 500;
const longestWaitMs = 30_000;

/**
 * The breaker counts mails that failed, so a worker that has just started would send some into an outage that others
 * know of for hours, and a worker that is started again and again would use up the attempts of one job after the other.
 * This knows less and sooner: whether the mail server has answered for a mail since it was last found away.
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
  const lookIn = (delayMs: number): void => {
    if (isStopped || timer !== null) return;
    timer = setTimeout(() => void look(), delayMs);
  };
  const look = async (): Promise<void> => {
    // An open breaker looks for itself, and says when it closes.
    const isNeeded = standing !== "answers" && standing !== "lets-in" && mailer.state() === "closed";
    const outcome = isNeeded ? await mailer.probe() : null;
    timer = null;
    if (outcome === null || standing === "answers") return;
    if (outcome.kind === "ready") become("lets-in");
    else foundAway();
  };
  const foundAway = (): void => {
    become("away");
    if (timer !== null) return;
    lookIn(waitMs);
    // Only an answer for a mail makes it short again: there are servers that let everybody in and take nothing.
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  };
  const hear = ({ kind }: SendOutcome): void => {
    if (kind === "unavailable") foundAway();
    if (kind === "unavailable" || kind === "unknown") return;
    waitMs = firstWaitMs;
    become("answers");
  };

  const stopListening = mailer.onChange((state) => {
    // The breaker has been let in, which it will be each second by a server that takes nothing: not so soon again.
    if (state === "closed" && standing === "away") lookIn(waitMs);
  });
  return {
    mailer: {
      connections: mailer.connections,
      probe: mailer.probe,
      close: mailer.close,
      send: async (mail) => {
        const outcome = await mailer.send(mail);
        hear(outcome);
        return outcome;
      },
    },
    standing: () => standing,
    start: () => lookIn(0),
    stop: () => {
      isStopped = true;
      stopListening();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
