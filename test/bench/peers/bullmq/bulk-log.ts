export type LogRow = readonly [jobId: string, email: string, status: string, response: string, sentAt: Date];

/** At most so many rows in one statement. */
const rowsAtOnce = 500;

/** One insert at a time: rows that come meanwhile share the next one. Resolves once the row is stored. */
export function createBulkLog(insert: (rows: readonly LogRow[]) => Promise<void>): (row: LogRow) => Promise<void> {
  let waiting: { readonly row: LogRow; readonly resolve: () => void; readonly reject: (failure: unknown) => void }[] =
    [];
  let isInserting = false;

  const insertAll = async (): Promise<void> => {
    isInserting = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, rowsAtOnce);
      waiting = waiting.slice(rowsAtOnce);
      try {
        await insert(batch.map(({ row }) => row));
        for (const { resolve } of batch) resolve();
      } catch (failure) {
        for (const { reject } of batch) reject(failure);
      }
    }
    isInserting = false;
  };

  return (row) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ row, resolve, reject });
      if (!isInserting) void insertAll();
    });
}
