import { toDisplayName } from "../../../domain/recipients/display-name.ts";
import { readCsv } from "./csv.ts";

export type Recipient = {
  readonly email: string;
  readonly name?: string;
  readonly variables?: Readonly<Record<string, string>>;
};

/**
 * Pasted or dropped text: a table whose first line names the columns, `email`, `name` and variables; or
 * addresses, one per line or with commas or semicolons. The service checks the addresses.
 */
export function readRecipients(text: string): readonly Recipient[] {
  const rows = readCsv(text).map((row) => row.map((cell) => cell.trim()));
  const names = (rows[0] ?? []).map((name) => name.toLowerCase());
  const emailColumn = names.findIndex((name) => name === "email" || name === "e-mail" || name === "address");
  if (emailColumn === -1) {
    return rows
      .flat()
      .flatMap((cell) => cell.split(/[,;]/))
      .map((cell) => cell.trim())
      .filter(Boolean)
      .map((email) => ({ email }));
  }
  const header = rows[0] ?? [];
  return rows.slice(1).map((row) => toRecipient(header, row, emailColumn));
}

function toRecipient(header: readonly string[], row: readonly string[], emailColumn: number): Recipient {
  // As in an imported file: what cannot stand beside an address is a variable like the others.
  const name = toDisplayName(row[header.indexOf("name")] ?? "");
  const variables = header.flatMap((title, column) => {
    const isOwn = column === emailColumn || title === "" || (title === "name" && name !== null);
    return isOwn ? [] : [[title, row[column] ?? ""] as const];
  });
  const own = { email: row[emailColumn] ?? "", ...(name === null ? {} : { name }) };
  return variables.length === 0 ? own : { ...own, variables: Object.fromEntries(variables) };
}

/** Splits a list into lists of `size`, in order. */
export const inChunks = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
