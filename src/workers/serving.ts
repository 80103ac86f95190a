import type { SendOutcome } from "../domain/recipients/events.ts";
import type { HoldingBack } from "./holding-back.ts";
import type { WhyNot } from "./leave-out.ts";

/** The outcome for one recipient, with the id by which the other side can recognise a repetition. */
export type Served = {
  readonly messageId: string;
  readonly outcome: SendOutcome;
  /** The name of the route, where it was not the usual one. */
  readonly route?: string | null;
  /** How long the recipient asked to be left alone. */
  readonly retryAfterMs?: number | null;
  /** Whether it was deferred because its receiver asks for patience and is slowed down: then no attempt is used up for it. */
  readonly isThrottled?: boolean;
  /** The consequence of a failure: see Bookkeeper.outcome. */
  readonly onceRecorded?: () => Promise<void>;
};

/** A recipient that was erased before the job was run again: its address is not known any more. */
export const servedErased: Served = {
  messageId: "",
  outcome: {
    kind: "failed",
    error: { code: "recipient-erased", message: "This recipient was erased.", replyCode: null, statusCode: null },
  },
};

/** How the recipients of one kind of job are served. */
export type Serving = {
  /** How many may be on their way at a time; called again each time. */
  readonly window: () => number;
  /** Counts each recipient that is being served, from before the last check until its outcome is recorded. */
  readonly using?: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /**
   * How many recipients a job that sends doubtful mails again may claim at a time, if more than `window`: an unused claim
   * does such a job no harm, and each claim costs an event.
   */
  readonly claimsAtOnce?: number;
  /**
   * Called once for each claimed recipient. An exception breaks the turn off. After a wait it asks `mayStill` again, and
   * returns null if the answer is no: then it has served nothing. The signal ends a wait.
   */
  readonly serve: (recipient: number, mayStill: () => Promise<boolean>, hurry: AbortSignal) => Promise<Served | null>;
  /** Why a recipient must not be served at all; null for one that may be. Without it, all may be. Throws Unavailable. */
  readonly whyNot?: WhyNot;
  /** Waits after a recipient that was served, unless it was the last; the signal ends the wait. */
  readonly after?: (hurry: AbortSignal) => Promise<unknown>;
  /** Slows down those whose receiver has asked for patience. Without it, none are. */
  readonly holdingBack?: HoldingBack;
  /** Aborts when the process is to stop: sends in progress end, and nothing new begins. */
  readonly stopping: AbortSignal;
};
