import { figure } from "../reading/words.ts";
import { changeQuery, place } from "../router.ts";

/** The cursor of the previous page, by cursor; a page opened by its URL knows none, and goes back to the first. */
const comeFrom = new Map<string, string | null>();

type ListPagerProps = {
  /** Null where counting would take too long. */
  readonly total: number | null;
  readonly nextCursor: string | null;
};

/** For lists with the newest first, whose cursor is in the place. */
export function ListPager({ total, nextCursor }: ListPagerProps) {
  const cursor = place.value.query.get("cursor");
  const goOn = (): void => {
    if (nextCursor === null) return;
    comeFrom.set(nextCursor, cursor);
    changeQuery({ cursor: nextCursor });
  };
  return (
    <div class="pager">
      <span>{total === null ? "Too many to count at once" : `${figure(total)} in all`}</span>
      <button
        type="button"
        disabled={cursor === null}
        onClick={() => changeQuery({ cursor: comeFrom.get(cursor ?? "") ?? null })}
      >
        Newer
      </button>
      <button type="button" disabled={nextCursor === null} onClick={goOn}>
        Older
      </button>
    </div>
  );
}
