import type { SealKey } from "./seal-key.ts";

/** What sealing keeps where every process finds it. Throws Unavailable where that cannot be reached. */
export interface SealStore {
  /** The key that was made at first use; made now where there is none. */
  key(): Promise<SealKey>;
  /** The same, and null where there is none. */
  readKey(): Promise<SealKey | null>;
  /** Puts another key in its place. What the one before has signed stays as good as it was. */
  rotate(): Promise<SealKey>;
  /** Up to which sequence seals were published there; 0 where none was. */
  published(destination: string): Promise<number>;
  publishedUpTo(destination: string, sequence: number): Promise<void>;
}
