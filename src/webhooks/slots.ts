export type Slots = {
  /** Waits until there is room, and works. */
  run<Result>(owner: string, work: () => Promise<Result>): Promise<Result>;
};

/** At most `total` at a time, and `each` of one owner: whoever has a lot that takes long leaves room for others. */
export function createSlots(total: number, each: number): Slots {
  const busy = new Map<string, number>();
  const waiting: { readonly owner: string; readonly begin: () => void }[] = [];
  let taken = 0;

  const hasRoom = (owner: string): boolean => taken < total && (busy.get(owner) ?? 0) < each;
  const take = (owner: string): void => {
    taken += 1;
    busy.set(owner, (busy.get(owner) ?? 0) + 1);
  };
  const leave = (owner: string): void => {
    taken -= 1;
    const left = (busy.get(owner) ?? 1) - 1;
    if (left === 0) busy.delete(owner);
    else busy.set(owner, left);
    const index = waiting.findIndex((one) => hasRoom(one.owner));
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    take(next.owner);
    next.begin();
  };

  return {
    run: async (owner, work) => {
      if (hasRoom(owner)) take(owner);
      else await new Promise<void>((begin) => waiting.push({ owner, begin }));
      try {
        return await work();
      } finally {
        leave(owner);
      }
    },
  };
}
