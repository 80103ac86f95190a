import { expect } from "chai";
import {
  countRecipients,
  deferredRecipients,
  emptyLedger,
  recipientsInDoubt,
  recipientsToMail,
} from "../../src/domain/recipients/ledger.ts";
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

describe("the recipients of a job", () => {
  it("are all to be mailed at first, in their order in the content", () => {
    const ledger = emptyLedger(3);
    expect(statesOf(ledger)).to.deep.equal(["pending", "pending", "pending"]);
    expect(recipientsToMail(ledger)).to.deep.equal([0, 1, 2]);
    expect(countRecipients(ledger)).to.deep.equal(counts({ pending: 3 }));
  });

  it("may be none", () => {
    expect(recipientsToMail(emptyLedger(0))).to.deep.equal([]);
    expect(countRecipients(emptyLedger(0))).to.deep.equal(counts({ total: 0 }));
  });

  it("have one outcome each, and the counters add up", () => {
    const ledger = ledgerOf(
      recipientsClaimed(),
      recipientSent({ recipient: 0 }),
      recipientFailed({ recipient: 1 }),
      recipientUnknown({ recipient: 2 }),
    );
    expect(statesOf(ledger)).to.deep.equal(["sent", "failed", "unknown"]);
    expect(countRecipients(ledger)).to.deep.equal(counts({ sent: 1, failed: 1, unknown: 1 }));
    expect(recipientsToMail(ledger)).to.deep.equal([]);
  });
});

describe("a recipient that was claimed", () => {
  const claimed = recipientsClaimed({ recipients: [1] });

  it("is in doubt until its outcome is known", () => {
    expect(recipientsInDoubt(ledgerOf(claimed))).to.deep.equal([1]);
    expect(recipientsInDoubt(ledgerOf(claimed, recipientSent({ recipient: 1 })))).to.deep.equal([]);
    expect(recipientsInDoubt(ledgerOf(claimed, recipientDeferred({ recipient: 1 })))).to.deep.equal([]);
  });

  it("is not mailed as if nothing had happened", () => {
    expect(recipientsToMail(ledgerOf(claimed))).to.deep.equal([0, 2]);
  });

  it("counts as pending", () => {
    expect(countRecipients(ledgerOf(claimed))).to.deep.equal(counts({ pending: 3 }));
  });

  it("is in doubt again when a later attempt claims it and leaves no outcome", () => {
    const again = recipientsClaimed({ attempt: 2, worker: "worker-2", recipients: [1] });
    expect(recipientsInDoubt(ledgerOf(claimed, recipientDeferred({ recipient: 1 }), again))).to.deep.equal([1]);
  });

  it("stays what it was when its outcome is known already", () => {
    const sent = recipientSent({ recipient: 1 });
    expect(statesOf(ledgerOf(sent, claimed))).to.deep.equal(["pending", "sent", "pending"]);
  });
});

describe("a recipient whose claim was taken back, because it was surely not handed over", () => {
  const claimed = recipientsClaimed({ recipients: [0, 1] });
  const released = recipientsReleased({ recipients: [1] });

  it("is to be mailed as before", () => {
    const ledger = ledgerOf(claimed, released);
    expect(statesOf(ledger)).to.deep.equal(["claimed", "pending", "pending"]);
    expect(recipientsToMail(ledger)).to.deep.equal([1, 2]);
    expect(recipientsInDoubt(ledger)).to.deep.equal([0]);
  });

  it("keeps an outcome that came first", () => {
    for (const outcome of [recipientSent, recipientFailed, recipientDeferred, recipientUnknown]) {
      const known = ledgerOf(claimed, outcome({ recipient: 1 }));
      expect(statesOf(ledgerOf(claimed, outcome({ recipient: 1 }), released))).to.deep.equal(statesOf(known));
    }
  });

  it("stays in doubt where the claim is of another run", () => {
    expect(recipientsInDoubt(ledgerOf(claimed, jobRetried(), released))).to.deep.equal([0, 1]);
  });
});

describe("a recipient that was put off by the mail server", () => {
  const deferred = recipientDeferred({ recipient: 1 });

  it("is to be mailed in the next attempt, in its place", () => {
    expect(deferredRecipients(ledgerOf(deferred))).to.deep.equal([1]);
    expect(recipientsToMail(ledgerOf(recipientSent({ recipient: 0 }), deferred))).to.deep.equal([1, 2]);
    expect(countRecipients(ledgerOf(deferred))).to.deep.equal(counts({ pending: 2, deferred: 1 }));
  });

  it("takes whatever final outcome a later attempt brings", () => {
    expect(statesOf(ledgerOf(deferred, recipientSent({ attempt: 2, recipient: 1 })))[1]).to.equal("sent");
    expect(statesOf(ledgerOf(deferred, recipientFailed({ attempt: 2, recipient: 1 })))[1]).to.equal("failed");
    expect(statesOf(ledgerOf(deferred, recipientUnknown({ attempt: 2, recipient: 1 })))[1]).to.equal("unknown");
  });
});

describe("a recipient of whom two workers tell", () => {
  const outcomes = { sent: recipientSent, failed: recipientFailed, unknown: recipientUnknown } as const;
  const all = { ...outcomes, deferred: recipientDeferred } as const;
  for (const [first, firstEvent] of Object.entries(outcomes)) {
    for (const [second, secondEvent] of Object.entries(all)) {
      it(`keeps the first final outcome of the run: ${first}, then ${second}`, () => {
        const ledger = ledgerOf(firstEvent(), secondEvent({ attempt: 2 }));
        expect(recipientsToMail(ledger)).to.deep.equal([1, 2]);
        expect(countRecipients(ledger)).to.deep.equal(counts({ pending: 2, [first]: 1 }));
      });
    }
  }

  it("is counted once however often the same outcome is told", () => {
    expect(countRecipients(ledgerOf(recipientSent(), recipientSent()))).to.deep.equal(counts({ sent: 1, pending: 2 }));
  });
});

describe("an outcome of a recipient that the job does not have", () => {
  it("is without effect", () => {
    const ledger = ledgerOf(recipientSent({ recipient: 3 }), recipientsClaimed({ recipients: [7, 1] }));
    expect(statesOf(ledger)).to.deep.equal(["pending", "claimed", "pending"]);
  });
});
