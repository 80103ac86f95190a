/** The same, with nothing that may be changed. */
export type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/**
 * True where two types have the same members, whether they may be changed or not; else what differs, so that the error
 * at `true satisfies SameShape<…>` shows it.
 */
export type SameShape<One, Other> = [Frozen<One>, Frozen<Other>] extends [Frozen<Other>, Frozen<One>]
  ? true
  : { readonly one: Frozen<One>; readonly other: Frozen<Other> };
