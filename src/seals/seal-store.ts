import type { SealKey } from "./seal-key.ts";

/** The state of sealing that all processes share. Every method throws Unavailable if the store cannot be reached. */
export interface SealStore {
  /** The generated key; generates it if there is none. */
  key(): Promise<SealKey>;
  /** The generated key; null if there is none. */
  readKey(): Promise<SealKey | null>;
  /** Replaces the key. Signatures of the previous key stay valid. */
  rotate(): Promise<SealKey>;
  /** The sequence up to which seals were published there; 0 if none was. */
  published(destination: string): Promise<number>;
  publishedUpTo(destination: string, sequence: number): Promise<void>;
}
