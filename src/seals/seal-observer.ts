/** Which seal somebody has seen: its place in the log, and its digest. */
export type ObservedSeal = { readonly sequence: number; readonly digest: string };

/**
 * Somebody outside the log who remembers its last seal: a log that was put back to an earlier state has lost its last
 * seals with the rest, and says nothing of it.
 */
export interface SealObserver {
  /** For people: where it is remembered. */
  readonly name: string;
  /** Null where none was seen yet. */
  last(): Promise<ObservedSeal | null>;
  /** An older one than the last is no news. */
  remember(seal: ObservedSeal): Promise<void>;
}

/** The log does not hold a seal that was seen in it: it was rolled back, replaced or rewritten. */
export class LogRolledBack extends Error {
  override readonly name = "LogRolledBack";
  /** Without what to do about it. */
  readonly what: string;

  constructor(observer: string, sequence: number, found: string) {
    const what = `The log is not the one that was sealed: ${observer} remembers a seal at ${sequence}, ${found}`;
    super(
      `${what}. Nothing is sealed until somebody has looked: "waybill verify" tells more, and "waybill seals accept" ` +
        "goes on with the log as it is",
    );
    this.what = what;
  }
}
