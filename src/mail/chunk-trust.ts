/**
 * Whether mails may go to a mail server in one write. A connection that the server closes before it has read a mail leaves
 * that mail in doubt then, and some servers close connections without a word.
 */
export type ChunkTrust = { readonly isGiven: () => boolean; readonly lose: () => void };

/** A server that was restarted is trusted again; one that closes connections as a habit leaves few mails in doubt. */
const regainedAfterMs = 3_600_000;

/** Shared by the sessions with one mail server. */
export function createChunkTrust(now: () => number = () => performance.now()): ChunkTrust {
  let givenFrom = Number.NEGATIVE_INFINITY;
  return {
    isGiven: () => now() >= givenFrom,
    lose: () => {
      givenFrom = now() + regainedAfterMs;
    },
  };
}
