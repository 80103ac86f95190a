import { expect } from "chai";
import { countRecipients, recipientsInDoubt, recipientsToMail } from "../../src/domain/recipients/ledger.ts";
import {
  counts,
  jobRetried,
  recipientDeferred,
  recipientFailed,
  recipientSent,
  recipientsClaimed,
  recipientsReleased,
  recipientUnknown,
} from "../support/examples.ts";
import { ledgerOf, statesOf } from "../support/ledgers.ts";

describe("a retry of what failed and of what was not sent", () => {
  const retried = jobRetried({ scope: "failed" });

  it("takes up both, and counts no failure any more", () => {
    const ledger = ledgerOf(recipientFailed({ recipient: 0 }), recipientDeferred({ recipient: 1 }), retried);
    expect(recipientsToMail(ledger)).to.deep.equal([0, 1, 2]);
    expect(countRecipients(ledger)).to.deep.equal(counts({ pending: 3 }));
  });

  it("leaves alone sent recipients, which still count, and unknown ones", () => {
    const ledger = ledgerOf(recipientSent({ recipient: 0 }), recipientUnknown({ recipient: 1 }), retried);
    expect(recipientsToMail(ledger)).to.deep.equal([2]);
    expect(countRecipients(ledger)).to.deep.equal(counts({ sent: 1, unknown: 1, pending: 1 }));
  });
});

describe("a retry of what was not sent", () => {
  const retried = jobRetried({ scope: "unsent" });

  it("takes up what was never tried or put off", () => {
    const ledger = ledgerOf(recipientDeferred({ recipient: 1 }), retried);
    expect(recipientsToMail(ledger)).to.deep.equal([0, 1, 2]);
  });

  it("leaves alone what has an outcome, whichever", () => {
    const ledger = ledgerOf(
      recipientSent({ recipient: 0 }),
      recipientFailed({ recipient: 1 }),
      recipientUnknown({ recipient: 2 }),
      retried,
    );
    expect(recipientsToMail(ledger)).to.deep.equal([]);
    expect(countRecipients(ledger)).to.deep.equal(counts({ sent: 1, failed: 1, unknown: 1 }));
  });
});

describe("a retry of unknown recipients", () => {
  const retried = jobRetried({ scope: "unknown" });

  it("takes up that and nothing else", () => {
    const ledger = ledgerOf(recipientUnknown({ recipient: 1 }), recipientFailed({ recipient: 2 }), retried);
    expect(recipientsToMail(ledger)).to.deep.equal([1]);
    expect(countRecipients(ledger)).to.deep.equal(counts({ pending: 2, failed: 1 }));
  });

  it("leaves out what was not sent, until a retry asks for it", () => {
    const leftOut = [recipientSent({ recipient: 0 }), recipientDeferred({ recipient: 1 }), retried];
    expect(recipientsToMail(ledgerOf(...leftOut))).to.deep.equal([]);
    expect(recipientsToMail(ledgerOf(...leftOut, jobRetried({ run: 3, scope: "unknown" })))).to.deep.equal([]);
    expect(recipientsToMail(ledgerOf(...leftOut, jobRetried({ run: 3, scope: "unsent" })))).to.deep.equal([1, 2]);
    expect(recipientsToMail(ledgerOf(...leftOut, jobRetried({ run: 3, scope: "failed" })))).to.deep.equal([1, 2]);
  });
});

describe("a recipient that a crash left in doubt", () => {
  for (const scope of ["failed", "unsent", "unknown"] as const) {
    it(`is still in doubt in the next run, and not mailed unseen, whatever is retried: ${scope}`, () => {
      const ledger = ledgerOf(recipientsClaimed({ recipients: [1] }), jobRetried({ scope }));
      expect(recipientsInDoubt(ledger)).to.deep.equal([1]);
      expect(recipientsToMail(ledger)).to.not.include(1);
    });
  }
});

describe("an outcome of an earlier run that comes late", () => {
  const failedAndRetried = [recipientFailed(), jobRetried()] as const;

  it("is without effect when the mail was not sent", () => {
    const late = [recipientFailed(), recipientDeferred(), recipientUnknown()];
    for (const event of [...late, recipientsClaimed(), recipientsReleased()]) {
      expect(statesOf(ledgerOf(...failedAndRetried, event))).to.deep.equal(["pending", "pending", "pending"]);
    }
  });

  it("counts when the mail was sent, because it left", () => {
    const ledger = ledgerOf(...failedAndRetried, recipientSent());
    expect(statesOf(ledger)).to.deep.equal(["sent", "pending", "pending"]);
    expect(recipientsToMail(ledger)).to.deep.equal([1, 2]);
  });
});

describe("a mail that left after its recipient had another outcome", () => {
  const outcomes = { failed: recipientFailed, unknown: recipientUnknown } as const;
  for (const [outcome, event] of Object.entries(outcomes)) {
    it(`changes nothing in the run, and is not sent again by a retry: ${outcome}`, () => {
      const beforeRetry = ledgerOf(event(), recipientSent());
      expect(countRecipients(beforeRetry)).to.deep.equal(counts({ [outcome]: 1, pending: 2 }));
      for (const scope of ["failed", "unsent", "unknown"] as const) {
        const afterRetry = ledgerOf(event(), recipientSent(), jobRetried({ scope }));
        expect(recipientsToMail(afterRetry)).to.not.include(0);
      }
    });
  }
});
