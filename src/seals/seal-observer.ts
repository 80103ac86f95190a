import { setTimeout as pause } from "node:timers/promises";
import { digestOfSeal, type StoredSeal } from "./seal.ts";
import type { SealedLog } from "./sealed-log.ts";

/** A seal that an observer has seen: its sequence in the log, and its digest. */
export type ObservedSeal = { readonly sequence: number; readonly digest: string };

/**
 * Remembers the last seal outside the log. A log that was put back to an earlier state has lost its last seals with the
 * rest, so the log alone cannot show it.
 */
export interface SealObserver {
  /** Where the seal is remembered, in words for people. */
  readonly name: string;
  /** Null if no seal was seen yet. */
  last(): Promise<ObservedSeal | null>;
  /** Ignores a seal that is older than the last one. */
  remember(seal: ObservedSeal): Promise<void>;
}

/** The log does not hold a seal that was seen in it before: it was rolled back, replaced or rewritten. */
export class LogRolledBack extends Error {
  override readonly name = "LogRolledBack";
  /** The finding, without the instructions. */
  readonly what: string;

  constructor(observer: string, sequence: number, found: string) {
    const what = `The log is not the one that was sealed: ${observer} remembers a seal at ${sequence}, ${found}`;
    super(
      `${what}. Nothing is sealed until an operator has looked: "waybill verify" tells more, and "waybill seals accept" ` +
        "goes on with the log as it is",
    );
    this.what = what;
  }
}

type Asked = {
  readonly sealedLog: Pick<SealedLog, "sealAt" | "hasCopies">;
  readonly observers: readonly SealObserver[];
  /** Takes the failures of observers. */
  readonly report: (failure: unknown) => void;
};

/** Throws LogRolledBack if an observer has seen a seal that the log does not hold. An unreachable observer is skipped. */
export async function askObservers({ sealedLog, observers, report }: Asked): Promise<void> {
  for (const observer of observers) {
    const seen = await observer.last().catch((failure: unknown) => {
      report(failure);
      return null;
    });
    if (seen === null) continue;
    const found = await findSeal(sealedLog, seen.sequence);
    if (found === null) throw new LogRolledBack(observer.name, seen.sequence, "where the log has none");
    if (digestOfSeal(found) !== seen.digest) {
      throw new LogRolledBack(observer.name, seen.sequence, "where the log has another one");
    }
  }
}

/** How long a cluster is doubted that lacks a seal: a new leader answers before it has applied all of its entries. */
const patienceMs = 5_000;
const askAgainAfterMs = 250;

async function findSeal(sealedLog: Asked["sealedLog"], sequence: number): Promise<StoredSeal | null> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const found = await sealedLog.sealAt(sequence);
    if (found !== null || !sealedLog.hasCopies() || performance.now() >= deadline) return found;
    await pause(askAgainAfterMs);
  }
}

/** An unreachable observer is skipped. */
export async function informObservers(
  observers: readonly SealObserver[],
  seal: StoredSeal,
  report: Asked["report"],
): Promise<void> {
  const seen = { sequence: seal.sequence, digest: digestOfSeal(seal) };
  await Promise.all(observers.map((observer) => observer.remember(seen).catch(report)));
}
