import type { LogMessage } from "../event-log/log-message.ts";
/** One thing that was looked at, in words for people who know nothing of the machinery. */
export type Check = {
  readonly ok: boolean;
  readonly what: string;
  /** Where it is wrong, and how; or what was found. */
  readonly detail: string;
  /** Not of what is checked but of who signed it. */
  readonly isOfSigner?: true;
};

export const passed = (what: string, detail: string): Check => ({ ok: true, what, detail });
export const failed = (what: string, detail: string): Check => ({ ok: false, what, detail });

export const allPassed = (checks: readonly Check[]): boolean => checks.every(({ ok }) => ok);

/** A log that can be read twice: a stream, or a file that was exported from one. */
export interface LogSource {
  messages(afterSequence: number, which: "all" | "seals"): AsyncIterable<readonly LogMessage[]>;
}

/** What one may trust beside the thing that is checked. */
export type Trust = {
  /** Public keys that were had from elsewhere; empty where there are none. */
  readonly keys: readonly string[];
  /** Digests of seals by their last sequence, from where they were published; empty where there are none. */
  readonly seals: ReadonlyMap<number, string>;
};

export const trustNothing: Trust = { keys: [], seals: new Map() };
