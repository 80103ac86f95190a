import { expect } from "chai";
import * as example from "../support/examples.ts";
import { happen, newJob } from "../support/happen.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

/** Not one event at the time of another. */
const at = (second: number): string => `2026-11-21T09:30:0${second}.000Z`;

describe("A job as it was", () => {
  let api: RunningApi;
  const job = newJob();
  const ask = (asOf: string) => api.ask("GET", `/api/jobs/${job.jobId}?asOf=${asOf}`);

  /** Sequences 2 to 6; 1 and 7 are of others. */
  before(async () => {
    api = await startApi();
    await happen(api.log, newJob(), [example.jobCreated()]);
    await happen(api.log, job, [
      example.jobCreated({}, at(1)),
      example.jobStarted({}, at(2)),
      example.recipientSent({ recipient: 0 }, at(3)),
      example.recipientFailed({ recipient: 1 }, at(4)),
      example.jobCancelled({}, at(5)),
    ]);
    await happen(api.log, newJob(), [example.jobCreated()]);
  });
  after(() => api.close());

  const steps = [
    { sequence: 2, second: 1, status: "queued", sent: 0, failed: 0 },
    { sequence: 3, second: 2, status: "processing", sent: 0, failed: 0 },
    { sequence: 4, second: 3, status: "processing", sent: 1, failed: 0 },
    { sequence: 5, second: 4, status: "processing", sent: 1, failed: 1 },
    { sequence: 6, second: 5, status: "cancelled", sent: 1, failed: 1 },
  ] as const;
  for (const { sequence, second, status, sent, failed } of steps) {
    it(`is ${status} with ${sent} sent and ${failed} failed after event ${sequence}, by number and by time`, async () => {
      for (const asOf of [String(sequence), at(second), `2026-11-21T10:30:0${second}.999%2B01:00`]) {
        const { status: answer, headers, body } = await ask(asOf);
        expect([answer, body.status], asOf).to.deep.equal([200, status]);
        expect(body.progress, asOf).to.include({ sent, failed, total: 3 });
        expect(headers.get("Read-Sequence")).to.equal(String(sequence));
      }
    });
  }

  it("is what it is now as of any later event", async () => {
    const { body } = await ask("999999");
    expect(body).to.deep.equal((await api.ask("GET", `/api/jobs/${job.jobId}`)).body);
  });

  it("was not there before it was created", async () => {
    for (const asOf of ["0", "1", at(0)])
      expect((await ask(asOf)).body).to.include({ status: 404, code: "job-not-found" });
  });

  for (const asOf of ["-1", "yesterday", "1.5", ""]) {
    it(`is refused as of ${asOf === "" ? "nothing" : asOf}`, async () => {
      const answered = await ask(asOf);
      expect(answered.body).to.include({ status: 400, code: "validation-failed" });
      expect(answered.body.errors[0].pointer).to.equal("?asOf");
    });
  }
});
