/** A text, and the number that changes with each write. */
export type StoredCheckpoint = { readonly revision: number; readonly text: string };

/** Small texts by name, each replaced only by a writer that knows its revision. Both methods throw Unavailable. */
export interface CheckpointStore {
  read(name: string): Promise<StoredCheckpoint | null>;
  /** Returns the new revision; null if the present one is not `revision` (0: there is no such text). */
  write(name: string, text: string, revision: number): Promise<number | null>;
}
