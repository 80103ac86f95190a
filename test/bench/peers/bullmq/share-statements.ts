type Waiting<Row> = {
  readonly row: Row;
  readonly resolve: () => void;
  readonly reject: (failure: unknown) => void;
};

/** One call at a time: rows that come meanwhile share the next one. Resolves once the row is stored. */
export function shareStatements<Row>(
  store: (rows: readonly Row[]) => Promise<unknown>,
  rowsAtOnce = 500,
): (row: Row) => Promise<void> {
  let waiting: Waiting<Row>[] = [];
  let isStoring = false;

  const storeAll = async (): Promise<void> => {
    isStoring = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, rowsAtOnce);
      waiting = waiting.slice(rowsAtOnce);
      try {
        await store(batch.map(({ row }) => row));
        for (const { resolve } of batch) resolve();
      } catch (failure) {
        for (const { reject } of batch) reject(failure);
      }
    }
    isStoring = false;
  };

  return (row) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ row, resolve, reject });
      if (!isStoring) void storeAll();
    });
}
