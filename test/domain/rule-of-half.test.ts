import { expect } from "chai";
import { hasTooManyFailures } from "../../src/domain/recipients/ledger.ts";
import { counts } from "../support/examples.ts";

describe("a job whose recipients failed", () => {
  it("is a failed job when they were more than half", () => {
    expect(hasTooManyFailures(counts({ total: 3, sent: 1, failed: 2 }))).to.equal(true);
    expect(hasTooManyFailures(counts({ total: 1000, sent: 499, failed: 501 }))).to.equal(true);
    expect(hasTooManyFailures(counts({ total: 1, failed: 1 }))).to.equal(true);
  });

  it("is no failed job when they were exactly half", () => {
    expect(hasTooManyFailures(counts({ total: 2, sent: 1, failed: 1 }))).to.equal(false);
    expect(hasTooManyFailures(counts({ total: 1000, sent: 500, failed: 500 }))).to.equal(false);
  });

  it("is no failed job when they were less", () => {
    expect(hasTooManyFailures(counts({ total: 3, sent: 2, failed: 1 }))).to.equal(false);
    expect(hasTooManyFailures(counts({ total: 0 }))).to.equal(false);
  });

  it("is measured by all recipients, not by those that had an outcome", () => {
    expect(hasTooManyFailures(counts({ total: 4, failed: 2, unknown: 2 }))).to.equal(false);
    expect(hasTooManyFailures(counts({ total: 4, failed: 2, pending: 2 }))).to.equal(false);
  });
});
