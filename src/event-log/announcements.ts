/**
 * How far the read models have come, told to everybody the moment it is committed. A hint, not a promise: an
 * announcement can be lost, so whoever waits for one also has a deadline and looks for himself.
 */
export interface Announcements {
  announce(projection: string, sequence: number): void;
  /** Calls back with every announcement from now on; returns how to stop that. */
  listen(projection: string, heard: (sequence: number) => void): () => void;
}
