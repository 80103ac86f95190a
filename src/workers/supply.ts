/**
 * How the recipients of an attempt come to the workers that serve it: its holder passes some on to helpers, and a helper
 * gets them from the holder.
 */
export type Supply = {
  /** Whether this worker helps the holder of the lease. */
  readonly isHelp: boolean;
  /**
   * The recipients that this worker has not claimed yet. It claims from the front of the list; meanwhile others may be
   * taken from its end, or added.
   */
  open(left: number[]): void;
  /** Called for each group that this worker claims. */
  claimed(group: readonly number[]): void;
  /** Called when the list is empty and all is served: waits until there are more, and returns false if there will be none. */
  refill(): Promise<boolean>;
  /**
   * Called when this worker serves no more: waits for the other workers, and brings the ledger up to date. `recorded`
   * stores what this worker has not stored yet.
   */
  gather(recorded: () => Promise<void>): Promise<Gathered>;
};

/** What the other workers of an attempt have done. */
export type Gathered = {
  /** Whether one of them died, or was cut off, with recipients of which nothing final is known: another lease has to find out. */
  readonly areLost: boolean;
  /** Whether each recipient that was passed on has been tried. */
  readonly haveServedAll: boolean;
};

export const noOthers: Gathered = { areLost: false, haveServedAll: true };
