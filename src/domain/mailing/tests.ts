import { accepted, rejected } from "../decider.ts";
import type { CommandOf } from "./commands.ts";
import type { MailingEvent } from "./events.ts";
import { type ExistingMailing, hasMailingEnded, isNotStarted, type KnownTest, type MailingDecision } from "./state.ts";

/** Each is shown with the mailing, for ever. */
export const maxTests = 100;

/** Recorded before its job is created: a mail may be missing after a crash, and never the record of one that left. */
export function test({ at, jobId, recipients }: CommandOf<"TestMailing">, state: ExistingMailing): MailingDecision {
  const { status, tests } = state;
  if (tests.some((known) => known.jobId === jobId)) return accepted();
  if (hasMailingEnded(state)) return rejected({ code: "mailing-has-ended", currentStatus: status });
  if (!isNotStarted(state)) return rejected({ code: "mailing-has-started", currentStatus: status });
  if (tests.length === maxTests) return rejected({ code: "too-many-mailing-tests", maxTests });
  return accepted({ type: "MailingTested", at, data: { jobId, recipients } });
}

export const withTest = (
  tests: readonly KnownTest[],
  { at, data }: Extract<MailingEvent, { type: "MailingTested" }>,
): readonly KnownTest[] => [...tests, { ...data, testedAt: at }];
