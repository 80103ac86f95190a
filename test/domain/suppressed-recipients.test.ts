import { expect } from "chai";
import {
  countRecipients,
  hasTooManyFailures,
  recipientsToMail,
  recipientsToTakeUp,
} from "../../src/domain/recipients/ledger.ts";
import {
  counts,
  jobRetried,
  recipientDeferred,
  recipientFailed,
  recipientSent,
  recipientSuppressed,
  recipientsClaimed,
} from "../support/examples.ts";
import { ledgerOf, statesOf } from "../support/ledgers.ts";

describe("a recipient that is suppressed", () => {
  it("is neither sent nor failed, and is not to be mailed any more", () => {
    const ledger = ledgerOf(recipientSuppressed({ recipient: 1 }));
    expect(countRecipients(ledger)).to.deep.equal(counts({ suppressed: 1, pending: 2 }));
    expect(recipientsToMail(ledger)).to.deep.equal([0, 2]);
  });

  it("is so also after it was claimed or deferred", () => {
    const claimed = ledgerOf(recipientsClaimed({ recipients: [0] }), recipientSuppressed());
    const deferred = ledgerOf(recipientDeferred(), recipientSuppressed({ attempt: 2 }));
    expect([statesOf(claimed)[0], statesOf(deferred)[0]]).to.deep.equal(["suppressed", "suppressed"]);
  });

  it("stays what it was first", () => {
    expect(statesOf(ledgerOf(recipientSuppressed(), recipientFailed()))[0]).to.equal("suppressed");
    expect(statesOf(ledgerOf(recipientFailed(), recipientSuppressed()))[0]).to.equal("failed");
  });

  it("does not count as failed in the rule of half", () => {
    expect(hasTooManyFailures(counts({ total: 3, suppressed: 3 }))).to.equal(false);
    expect(hasTooManyFailures(counts({ total: 3, suppressed: 2, failed: 1 }))).to.equal(false);
  });

  it("is looked up anew by a retry of what failed or was not sent, and by the job that takes up the rest", () => {
    for (const scope of ["failed", "unsent"] as const) {
      const ledger = ledgerOf(recipientSent(), recipientSuppressed({ recipient: 1 }), jobRetried({ scope }));
      expect(recipientsToMail(ledger)).to.deep.equal([1, 2]);
    }
    expect(recipientsToTakeUp(ledgerOf(recipientSent(), recipientSuppressed({ recipient: 1 })), "skip")).to.deep.equal([
      1, 2,
    ]);
  });

  it("is left alone by a retry of unknown recipients", () => {
    const ledger = ledgerOf(recipientSuppressed(), jobRetried({ scope: "unknown" }));
    expect(recipientsToMail(ledger)).to.deep.equal([]);
    expect(countRecipients(ledger)).to.deep.equal(counts({ suppressed: 1, pending: 2 }));
  });

  it("is never mailed by a later run where a mail of before has left after all", () => {
    const late = ledgerOf(recipientSuppressed(), recipientSent());
    expect(countRecipients(late)).to.deep.equal(counts({ suppressed: 1, pending: 2 }));
    for (const scope of ["failed", "unsent", "unknown"] as const) {
      const retried = ledgerOf(recipientSuppressed(), recipientSent(), jobRetried({ scope }));
      expect(statesOf(retried)[0]).to.equal("sent");
    }
  });
});
