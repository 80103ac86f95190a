export type Group<Row> = { readonly key: string; readonly rows: readonly Row[] };

/** The largest group first. */
export function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly Group<Row>[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [row]);
    else known.push(row);
  }
  return [...groups].map(([key, members]) => ({ key, rows: members })).sort((a, b) => b.rows.length - a.rows.length);
}
