import { changeQuery, place } from "../router.ts";

type CursorPagerProps = { readonly first: string; readonly next: string; readonly nextCursor: string | number | null };

/** For lists that know only the next page, whose cursor is in the place. */
export const CursorPager = ({ first, next, nextCursor }: CursorPagerProps) => (
  <div class="pager">
    <button type="button" disabled={!place.value.query.has("cursor")} onClick={() => changeQuery({ cursor: null })}>
      {first}
    </button>
    <button type="button" disabled={nextCursor === null} onClick={() => changeQuery({ cursor: String(nextCursor) })}>
      {next}
    </button>
  </div>
);
