/** Counts the answers of each receiver over the last seconds. */
export type RecentAnswers = {
  add(receiver: string, isRefusal: boolean): void;
  of(receiver: string): { readonly taken: number; readonly refused: number; readonly perSecond: number };
};

type Count = { taken: number; refused: number };

const spanMs = 5000;

/** Two spans, of which the older one is dropped: so it holds no more receivers than had a mail within ten seconds. */
export function createRecentAnswers(now: () => number): RecentAnswers {
  let current = new Map<string, Count>();
  let before = new Map<string, Count>();
  let startedAt = now();
  const turn = (): void => {
    const ageMs = now() - startedAt;
    if (ageMs >= 0 && ageMs < spanMs) return;
    before = ageMs >= 0 && ageMs < 2 * spanMs ? current : new Map();
    current = new Map();
    startedAt = now();
  };
  return {
    add: (receiver, isRefusal) => {
      turn();
      const known = current.get(receiver);
      if (known === undefined) current.set(receiver, { taken: isRefusal ? 0 : 1, refused: isRefusal ? 1 : 0 });
      else if (isRefusal) known.refused += 1;
      else known.taken += 1;
    },
    of: (receiver) => {
      turn();
      const counts = [current.get(receiver), before.get(receiver)].filter((count) => count !== undefined);
      const [taken, refused] = [sum(counts.map((one) => one.taken)), sum(counts.map((one) => one.refused))];
      const forMs = Math.max(1000, now() - startedAt + (before.has(receiver) ? spanMs : 0));
      return { taken, refused, perSecond: ((taken + refused) * 1000) / forMs };
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((before, number) => before + number, 0);
