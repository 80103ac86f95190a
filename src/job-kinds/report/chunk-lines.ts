import type { ResultChunk } from "../../content/result-store.ts";
import type { ReportLine } from "./report-lines.ts";

export type ChunkSizes = {
  /** A piece is closed before it gets larger than this; one with a single row may. */
  readonly usual: number;
  readonly most: number;
};

/** A row that fits into no piece of a file. */
export class RowTooLarge extends Error {
  override readonly name = "RowTooLarge";
}

/**
 * Puts lines together to pieces, the last of which says that it is. Nothing is read ahead of what is asked for but the
 * rest of a page. `head` stands before the first line, in a file that begins here.
 */
export async function* chunkLines(
  pages: AsyncIterable<readonly ReportLine[]>,
  head: string,
  after: string | null,
  { usual, most }: ChunkSizes,
): AsyncGenerator<ResultChunk> {
  let parts = head === "" ? [] : [Buffer.from(head)];
  let [size, rows, cursor] = [Buffer.byteLength(head), 0, after];
  const close = (isLast: boolean): ResultChunk => {
    const chunk = { bytes: Buffer.concat(parts), rows, cursor, isLast };
    [parts, size, rows] = [[], 0, 0];
    return chunk;
  };
  for await (const page of pages) {
    for (const line of page) {
      const bytes = Buffer.from(line.text);
      if (rows > 0 && size + bytes.length > usual) yield close(false);
      if (size + bytes.length > most) throw new RowTooLarge(`A row takes ${bytes.length} bytes; at most ${most} fit.`);
      parts.push(bytes);
      [size, rows, cursor] = [size + bytes.length, rows + 1, line.cursor];
    }
  }
  yield close(true);
}
