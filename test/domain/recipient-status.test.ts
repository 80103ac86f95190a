import { expect } from "chai";
import fc from "fast-check";
import { cell, countRecipients } from "../../src/domain/recipients/ledger.ts";
import { type RecipientStatus, recipientStatusOf } from "../../src/domain/recipients/recipient-status.ts";

const anyCells = fc.array(fc.constantFrom(...Object.values(cell)), { maxLength: 50 });

describe("the status of each recipient", () => {
  it("adds up to the counters of the job, whatever happened", () => {
    fc.assert(
      fc.property(anyCells, (cells) => {
        const { total, ...counts } = countRecipients({ run: 1, cells: Uint8Array.from(cells) });
        const statuses = cells.map(recipientStatusOf);
        const counted = Object.keys(counts).map((status) => [
          status,
          statuses.filter((one) => one === (status as RecipientStatus)).length,
        ]);
        expect(Object.fromEntries(counted)).to.deep.equal(counts);
        expect(statuses).to.have.length(total);
      }),
    );
  });

  it("is an error for what no ledger holds", () => {
    expect(() => recipientStatusOf(255)).to.throw(RangeError, "255");
  });
});
