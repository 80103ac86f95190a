/**
 * How far the read models have come, announced to every listener the moment it is committed. An announcement is a hint,
 * not a promise: it can be lost, so every waiting caller also has a deadline and checks the checkpoint itself.
 */
export interface Announcements {
  announce(projection: string, sequence: number): void;
  /** Calls back with every announcement from now on; returns a function that stops the calls. */
  listen(projection: string, heard: (sequence: number) => void): () => void;
}
