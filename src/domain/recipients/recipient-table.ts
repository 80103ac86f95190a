import { toDisplayName } from "./display-name.ts";

/** What a row of a table says of a recipient: the address, the name beside it, and the other columns by their names. */
export type TableRecipient = {
  readonly email: string;
  readonly name?: string;
  readonly variables?: Readonly<Record<string, string>>;
};

export type RecipientColumns = {
  /** The index of the column of addresses. */
  readonly email: number;
  /** Empty for the column of addresses, and for what is dropped. */
  readonly names: readonly string[];
};

/** A cell without spaces around it, and without what an export of Waybill puts before a formula: see schemas/csv.ts. */
export const plainCell = (cell: string): string => cell.trim().replace(/^'(?=[=+\-@＝＋－＠])/, "");

/**
 * The columns that plain cells name; null where none is that of addresses, which is found without regard to case. Of
 * several the first counts, and the others are dropped.
 */
export function recipientColumns(header: readonly string[], email = "email"): RecipientColumns | null {
  const isEmail = (name: string): boolean => name.toLowerCase() === email.toLowerCase();
  const index = header.findIndex(isEmail);
  return index === -1 ? null : { email: index, names: header.map((name) => (isEmail(name) ? "" : name)) };
}

/**
 * The recipient in a row of plain cells. A column without a name is dropped. A name that cannot stand beside an address, as
 * an empty one cannot, is a variable like the others. A cell that a short row lacks is no variable.
 */
export function recipientOfRow({ email, names }: RecipientColumns, cells: readonly string[]): TableRecipient {
  const name = toDisplayName(cells[names.indexOf("name")] ?? "");
  const variables = names.flatMap((column, index) => {
    const cell = cells[index];
    const isOwn = column === "" || (column === "name" && name !== null);
    return isOwn || cell === undefined ? [] : [[column, cell] as const];
  });
  const own = { email: cells[email] ?? "", ...(name === null ? {} : { name }) };
  return variables.length === 0 ? own : { ...own, variables: Object.fromEntries(variables) };
}
