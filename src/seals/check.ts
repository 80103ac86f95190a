import type { LogMessage } from "../event-log/log-message.ts";
/** One check and its result, in words for readers who do not know how Waybill works. */
export type Check = {
  readonly ok: boolean;
  readonly what: string;
  /** What is wrong and where; or what was found. */
  readonly detail: string;
  /** Set if the check is about the signer, not about the contents. */
  readonly isOfSigner?: true;
  /** Set on a failure that a bundle also shows if it was made before the published seals that it is compared with. */
  readonly mayBeOld?: true;
  /** Set on a failure that a bundle also shows if the reader lacks the seals that were published last, or some before them. */
  readonly mayLack?: "later" | "some";
};

export const passed = (what: string, detail: string): Check => ({ ok: true, what, detail });
export const failed = (what: string, detail: string): Check => ({ ok: false, what, detail });

export const allPassed = (checks: readonly Check[]): boolean => checks.every(({ ok }) => ok);

/** A log that can be read twice: a stream, or a file that was exported from one. */
export interface LogSource {
  messages(afterSequence: number, which: "all" | "seals"): AsyncIterable<readonly LogMessage[]>;
}

/** What the reader trusts besides the thing that is checked. */
export type Trust = {
  /** Public keys that the reader obtained elsewhere; empty if there are none. */
  readonly keys: readonly string[];
  /** Digests of published seals by their last sequence; empty if there are none. */
  readonly seals: ReadonlyMap<number, string>;
};

export const trustNothing: Trust = { keys: [], seals: new Map() };
