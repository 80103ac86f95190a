/**
 * Whole numbers from 0 to below a bound, the same for a seed (mulberry32). A congruential generator would not do: its last digits
 * repeat after a few numbers, and beyond 2^53 all of it after some thousand, so that what fails by chance may fail for ever.
 */
export function chanceOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
