import type { Static, TSchema } from "typebox";
import type {
  CaughtMail,
  DryRunAnswer,
  EndpointAnswer,
  LedgerEntry,
  Listed,
  LogEntry,
  Me,
  Rates,
  ReadModelList,
  RecipientAnswer,
  SealAnswer,
  StatsAnswer,
  SuppressionAnswer,
  SystemAnswer,
} from "../../src/dashboard/ui/api/answers.ts";
import type { dryRunResult } from "../../src/http/answers/job.ts";
import type { endpointPage } from "../../src/http/answers/notices.ts";
import type { ledgerPage, logEntries, recipientPage, suppressionPage } from "../../src/http/answers/recipients.ts";
import type { caller, caughtMails, sealPage, stats } from "../../src/http/answers/service.ts";
import type { readModelList, system } from "../../src/http/answers/system.ts";
import type { Frozen, SameShape } from "../../src/schemas/same-shape.ts";

/** True where the API answers all that the dashboard reads; else what differs, so that the error shows it. */
type Fits<Answer extends TSchema, Read> = [Frozen<Static<Answer>>] extends [Frozen<Read>]
  ? true
  : { readonly answered: Frozen<Static<Answer>>; readonly read: Frozen<Read> };

// Nothing of this runs: it is the compiler that looks whether what the dashboard has written down again still holds.
true satisfies Fits<typeof stats, Omit<StatsAnswer, "jobs" | "projections">>;
true satisfies Fits<typeof system, SystemAnswer>;
true satisfies Fits<typeof readModelList, ReadModelList>;
true satisfies Fits<typeof caller, Me>;
true satisfies Fits<typeof caughtMails, readonly CaughtMail[]>;
true satisfies Fits<typeof sealPage, Listed<SealAnswer>>;
true satisfies Fits<typeof dryRunResult, DryRunAnswer>;
true satisfies Fits<typeof endpointPage, Listed<EndpointAnswer>>;
true satisfies Fits<typeof suppressionPage, Listed<SuppressionAnswer>>;
true satisfies Fits<typeof recipientPage, { readonly data: readonly RecipientAnswer[] }>;
true satisfies Fits<typeof logEntries, readonly LogEntry[]>;
true satisfies Fits<typeof ledgerPage, Listed<LedgerEntry>>;
// All that is counted, as each of them is one of the others' rest.
true satisfies SameShape<Static<typeof stats>["perMinute"]["last5Minutes"], Rates>;
