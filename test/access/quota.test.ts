import { expect } from "chai";
import { countIn, emptyDay, type QuotaRequest } from "../../src/access/quota.ts";

const request = (jobId: string, recipients: number): QuotaRequest => ({
  job: { tenant: "acme", jobId },
  recipients,
  perDay: 10,
  at: "2026-12-31T23:59:59.999Z",
});

describe("A day's count of recipients", () => {
  const countOf = (...requests: readonly QuotaRequest[]) =>
    requests.reduce((day, one) => countIn(day, one).count ?? day, emptyDay);

  it("takes a job that uses up the very last", () => {
    expect(countIn(countOf(request("a", 4)), request("b", 6))).to.have.nested.include({ "answer.granted": true });
  });

  it("refuses one that is a single recipient over, and tells what is left until when", () => {
    expect(countIn(countOf(request("a", 4)), request("b", 7))).to.deep.equal({
      answer: { granted: false, left: 6, resetsAt: "2027-01-01T00:00:00.000Z" },
      count: null,
    });
  });

  it("counts a job that comes again once", () => {
    const day = countOf(request("a", 10));
    expect(countIn(day, request("a", 10))).to.deep.equal({ answer: { granted: true }, count: null });
    expect(day.used).to.equal(10);
  });

  it("counts a job again that comes with other recipients under its idempotency key", () => {
    expect(countIn(countOf(request("a", 1)), request("a", 10)).answer).to.include({ granted: false, left: 9 });
    expect(countOf(request("a", 1), request("a", 9)).used).to.equal(10);
  });

  it("has nothing left, and not less, where the quota was lowered", () => {
    expect(countIn({ used: 50, recent: [] }, request("a", 1)).answer).to.include({ granted: false, left: 0 });
  });

  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...request(`job-${index}`, 1), perDay: 1000 }));

  it("counts hundreds of jobs once that come again together, as after an outage of the log", () => {
    const requests = many(400);
    expect(countOf(...requests, ...requests).used).to.equal(400);
  });

  it("remembers a bounded number of jobs", () => {
    const day = countOf(...many(600));
    expect(day.used).to.equal(600);
    expect(day.recent).to.have.lengthOf(500);
    expect(JSON.stringify(day)).to.have.lengthOf.below(8000);
  });
});
