/** What became of one of many: `jobId` is the job that the action was about, or that it made. */
export type Acted = { readonly id: string } & (
  | { readonly outcome: "changed"; readonly jobId: string }
  /** It was as asked for already. */
  | { readonly outcome: "unchanged" }
  /** Its state does not allow the action; `code` is that of the problem it would be alone. */
  | { readonly outcome: "skipped"; readonly code: string }
);

export type PageOfMany<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null };

export type Many<Item> = {
  readonly page: (cursor: string | null) => Promise<PageOfMany<Item>>;
  readonly act: (item: Item) => Promise<Acted>;
  readonly atOnce: number;
  /** After these many, or this time, the rest is left to the next call, which begins at the cursor. */
  readonly most: number;
  readonly forMs: number;
};

export type ActedOnMany = { readonly acted: readonly Acted[]; readonly nextCursor: string | null };

/**
 * Acts on one page of things after another. A call is bounded, so that it answers like every other, and keeps nothing
 * between calls: each thing's own history guards its decision. Where a process dies, the same call again does the rest,
 * and finds what was done already unchanged, or in a state that allows no more.
 */
export async function actOnMany<Item>(from: string | null, many: Many<Item>): Promise<ActedOnMany> {
  const endsAt = performance.now() + many.forMs;
  const acted: Acted[] = [];
  let cursor = from;
  do {
    try {
      const { items, nextCursor } = await many.page(cursor);
      acted.push(...(await actOnPage(items, many)));
      cursor = nextCursor;
    } catch (failure) {
      // The caller learns what was done. The next call begins with the page that failed, and fails if it has to.
      if (acted.length === 0) throw failure;
      break;
    }
  } while (cursor !== null && acted.length < many.most && performance.now() < endsAt);
  return { acted, nextCursor: cursor };
}

async function actOnPage<Item>(items: readonly Item[], { act, atOnce }: Many<Item>): Promise<readonly Acted[]> {
  const acted: Acted[] = [];
  const waiting = items.values();
  const hand = async (): Promise<void> => {
    for (const item of waiting) acted.push(await act(item));
  };
  await Promise.all(Array.from({ length: atOnce }, hand));
  return acted;
}

/** The pages of a list that the caller has named; the cursor is the place in it. */
export const pagesOfList =
  <Item>(list: readonly Item[], size: number) =>
  async (cursor: string | null): Promise<PageOfMany<Item>> => {
    const first = /^\d{1,4}$/.test(cursor ?? "0") ? Number(cursor ?? "0") : list.length;
    const next = first + size;
    return { items: list.slice(first, next), nextCursor: next < list.length ? String(next) : null };
  };
