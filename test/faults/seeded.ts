import { createHash } from "node:crypto";

/** A number from 0 (inclusive) to 1, the same for the same seed and the same purpose, whatever else was drawn. */
export function drawn(seed: string, purpose: string): number {
  return createHash("sha256").update(`${seed}|${purpose}`).digest().readUInt32BE(0) / 2 ** 32;
}

/** A whole number from `least` to `most`, both included. */
export const drawnBetween = (seed: string, purpose: string, least: number, most: number): number =>
  least + Math.floor(drawn(seed, purpose) * (most - least + 1));
