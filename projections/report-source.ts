import type { Knex } from "knex";
import { askPrepared, type Statement } from "../src/database/prepared.ts";
import {
  type ReportRow,
  type ReportSource,
  type ReportSpan,
  SourceUnavailable,
} from "../src/job-kinds/report/report-source.ts";
import { describeFailure } from "../src/process/logger.ts";
import { isReadFailure } from "./following/read-failure.ts";
import type { ReadPositions } from "./following/read-position.ts";
import { createRowsGuard } from "./following/readable-rows.ts";
import type { Projector } from "./projector.ts";

/** A page is held in memory, and a row can be some kilobytes long. */
const rowsPerPage = 1000;
/** Longer than the lag of any working projection. */
const patienceMs = 10_000;

/** A read model as a source of reports: its rows in the order of a key, which is also the order of an index. */
export type ReadModelRows<DatabaseRow, Row> = {
  readonly projector: Projector;
  /** The next rows of a span after a cursor, at most `limit`. */
  readonly statement: (span: ReportSpan, after: string | null, limit: number) => Statement;
  readonly toRow: (row: DatabaseRow) => ReportRow<Row>;
};

/** The index named in a statement is unknown: the tables are of an older version, and are being rebuilt. */
const missingKey = 1176;

export function createReportSource<DatabaseRow, Row>(
  db: Knex,
  positions: Pick<ReadPositions, "waitFor">,
  { projector, statement, toRow }: ReadModelRows<DatabaseRow, Row>,
): ReportSource<Row> {
  const guard = createRowsGuard(db, projector);
  return {
    reaches: (sequence) => asking(() => positions.waitFor(projector.name, sequence, patienceMs)),
    read: async function* (span, after) {
      let cursor = after;
      for (let isLast = false; !isLast; ) {
        const rows = await asking(async () => {
          await guard.check();
          return askPrepared<DatabaseRow>(db, statement(span, cursor, rowsPerPage)).catch(guard.explain);
        });
        const page = rows.map(toRow);
        cursor = page.at(-1)?.cursor ?? cursor;
        isLast = rows.length < rowsPerPage;
        yield page;
      }
    },
  };
}

async function asking<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (failure) {
    const { errno } = failure as { readonly errno?: unknown };
    if (!isReadFailure(failure) && errno !== missingKey) throw failure;
    throw new SourceUnavailable(describeFailure(failure), { cause: failure });
  }
}

/** The two parts of a key as one text, and back: the first part has no space. */
export const toCursor = (first: string, second: string | number): string => `${first} ${second}`;

export function fromCursor(cursor: string): readonly [string, string] {
  const [first = "", second = ""] = cursor.split(" ");
  return [first, second];
}
