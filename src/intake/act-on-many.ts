/** What became of one of many: `jobId` is the job that the action was about, or that it made. */
export type Acted = { readonly id: string } & (
  | { readonly outcome: "changed"; readonly jobId: string }
  /** It was as asked for already. */
  | { readonly outcome: "unchanged" }
  /** Its state does not allow the action; `code` is that of the problem it would be alone. */
  | { readonly outcome: "skipped"; readonly code: string }
);

export type PageOfMany = { readonly items: readonly string[]; readonly nextCursor: string | null };

export type Many = {
  readonly page: (cursor: string | null) => Promise<PageOfMany>;
  /** `isAgain`: the call before had no answer about the item, and may have changed it. */
  readonly act: (id: string, isAgain: boolean) => Promise<Acted>;
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
 *
 * Where something fails, the caller learns what was done, and the cursor names what is left of the page: of a filter, what
 * was changed without an answer would not be found again, and never be told. Throws where nothing is to be told.
 */
export async function actOnMany(from: string | null, many: Many): Promise<ActedOnMany> {
  const endsAt = performance.now() + many.forMs;
  const acted: Acted[] = [];
  let { left, cursor } = readCursor(from);
  do {
    const isAgain = left.length > 0;
    const page = isAgain ? { items: left, nextCursor: cursor } : await orEnd(many.page(cursor), acted);
    if (page === null) break;
    const { rest, failure } = await actOnPage(page.items, isAgain, many, acted);
    if (rest.length > 0 && acted.length === 0) throw failure;
    [left, cursor] = [rest, page.nextCursor];
  } while (left.length === 0 && cursor !== null && acted.length < many.most && performance.now() < endsAt);
  return { acted, nextCursor: left.length === 0 ? cursor : `left:${left.join(",")}:${cursor ?? ""}` };
}

/** Null where a page cannot be read, and something was done before. */
async function orEnd(reading: Promise<PageOfMany>, acted: readonly Acted[]): Promise<PageOfMany | null> {
  try {
    return await reading;
  } catch (failure) {
    if (acted.length === 0) throw failure;
    return null;
  }
}

/** What the call before has left of its page, and the page after that. */
function readCursor(text: string | null): { readonly left: readonly string[]; readonly cursor: string | null } {
  const [, left, cursor] = /^left:([^:]+):(.*)$/.exec(text ?? "") ?? [];
  return left === undefined ? { left: [], cursor: text } : { left: left.split(","), cursor: cursor || null };
}

/** Begins nothing after a failure, and waits for what goes on. `rest` is what failed, or was not begun. */
async function actOnPage(
  items: readonly string[],
  isAgain: boolean,
  { act, atOnce }: Many,
  acted: Acted[],
): Promise<{ readonly rest: readonly string[]; readonly failure: unknown }> {
  const left = new Set(items);
  const failures: unknown[] = [];
  const waiting = items.values();
  const hand = async (): Promise<void> => {
    for (const item of waiting) {
      if (failures.length > 0) return;
      try {
        acted.push(await act(item, isAgain));
        left.delete(item);
      } catch (failure) {
        failures.push(failure);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, hand));
  return { rest: [...left], failure: failures[0] };
}

/** The pages of a list that the caller has named; the cursor is the place in it. */
export const pagesOfList =
  (list: readonly string[], size: number) =>
  async (cursor: string | null): Promise<PageOfMany> => {
    const first = /^\d{1,4}$/.test(cursor ?? "0") ? Number(cursor ?? "0") : list.length;
    const next = first + size;
    return { items: list.slice(first, next), nextCursor: next < list.length ? String(next) : null };
  };
