/** The longest name beside an address, in characters. */
export const maxNameLength = 200;

export const controlCharacter = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** A cell of a table as a display name; null for one that cannot stand in a header. */
export function toDisplayName(cell: string): string | null {
  const name = cell.trim();
  return name === "" || name.length > maxNameLength || controlCharacter.test(name) ? null : name;
}
