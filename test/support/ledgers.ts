import type { JobEvent } from "../../src/domain/job/events.ts";
import type { RecipientEvent } from "../../src/domain/recipients/events.ts";
import {
  beginRunInLedger,
  cell,
  emptyLedger,
  type Ledger,
  recordInLedger,
} from "../../src/domain/recipients/ledger.ts";

type LedgerEvent = RecipientEvent | Extract<JobEvent, { type: "JobRetried" }>;

/** The ledger of three recipients after all that happened to them. */
export function ledgerOf(...history: readonly LedgerEvent[]): Ledger {
  const ledger = emptyLedger(3);
  for (const event of history) {
    if (event.type === "JobRetried") beginRunInLedger(ledger, event);
    else recordInLedger(ledger, event);
  }
  return ledger;
}

const names = new Map<number, string>(Object.entries(cell).map(([name, value]) => [value, name]));

/** What is known of each recipient, by name. */
export const statesOf = (ledger: Ledger): readonly string[] =>
  Array.from(ledger.cells, (value) => names.get(value) ?? `no state: ${value}`);
