import { createJob, jobCreated, later } from "../support/examples.ts";
import { given } from "../support/given.ts";
import { each, everyStatus } from "../support/histories.ts";

const request = "b".repeat(64);
const otherRequest = "c".repeat(64);

describe("creating a job", () => {
  it("records what was asked for", () => {
    given()
      .when(createJob({ total: 250 }))
      .records(jobCreated({ total: 250 }));
  });

  it("records the time that it waits for", () => {
    given()
      .when(createJob({ scheduledAt: later }))
      .records(jobCreated({ scheduledAt: later }));
  });
});

describe("creating a job that was created before", () => {
  for (const [status, history] of each(everyStatus)) {
    it(`is a repeat when the request is the same: ${status}`, () => {
      given(...history({ requestSha256: request }))
        .when(createJob({ requestSha256: request }))
        .recordsNothing();
    });

    it(`is refused when the request is another: ${status}`, () => {
      given(...history({ requestSha256: request }))
        .when(createJob({ requestSha256: otherRequest }))
        .isRefused({ code: "idempotency-key-reused" });
    });
  }
});
