import {
  plainCell,
  recipientColumns,
  recipientOfRow,
  type TableRecipient,
} from "../../../domain/recipients/recipient-table.ts";
import { readCsv } from "./csv.ts";

export type Recipient = TableRecipient;

/**
 * Pasted or dropped text: a table whose first line names the columns, `email`, `name` and variables; or
 * addresses, one per line or with commas or semicolons. A table means what it means in an imported file. The service checks
 * the addresses.
 */
export function readRecipients(text: string): readonly Recipient[] {
  const rows = readCsv(text).map((row) => row.map(plainCell));
  const header = rows[0] ?? [];
  const columns = recipientColumns(header) ?? recipientColumns(header, "e-mail") ?? recipientColumns(header, "address");
  if (columns === null) {
    return rows
      .flat()
      .flatMap((cell) => cell.split(/[,;]/))
      .map((cell) => cell.trim())
      .filter(Boolean)
      .map((email) => ({ email }));
  }
  return rows.slice(1).map((row) => recipientOfRow(columns, row));
}

/** Splits a list into lists of `size`, in order. */
export const inChunks = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
