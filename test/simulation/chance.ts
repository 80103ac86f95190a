/** Chance that comes out the same whenever it begins with the same seed. */
export type Chance = {
  /** From 0 up to, and not including, 1. */
  next(): number;
  /** True as often as `probability` says. */
  happens(probability: number): boolean;
  /** From `least` up to `most`, not rounded. */
  between(least: number, most: number): number;
  /** One of them; there must be at least one. */
  oneOf<Item>(items: readonly Item[]): Item;
};

/** The generator mulberry32: small, fast, and good enough to choose what goes wrong. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    happens: (probability) => next() < probability,
    between: (least, most) => least + next() * (most - least),
    oneOf: <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)] as Item,
  };
}
