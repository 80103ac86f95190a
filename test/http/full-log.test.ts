import { expect } from "chai";
import { job } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { failed } from "../support/histories.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";

describe("A log that has no room left for jobs", () => {
  let api: RunningApi;
  let isRoomLeft: boolean;

  beforeEach(async () => {
    isRoomLeft = true;
    api = await startApi({ room: { isLeftForJobs: async () => isRoomLeft } });
  });
  afterEach(() => api.close());

  const post = (headers: Readonly<Record<string, string>> = {}) =>
    api.ask("POST", "/api/jobs", { body: mailing, headers });

  it("makes every new job be refused, before anything of it is stored", async () => {
    isRoomLeft = false;
    for (const headers of [{}, { "Idempotency-Key": "november" }]) {
      const answered = await post(headers);
      expect([answered.status, answered.body.code]).to.deep.equal([503, "event-log-full"]);
      expect(answered.headers.get("Retry-After")).to.equal("60");
    }
    expect(api.stored).to.deep.equal([]);
    expect((await api.log.state()).lastSequence).to.equal(0);
  });

  it("is no reason to refuse what was accepted before: a repetition gets its first answer", async () => {
    const first = await post({ "Idempotency-Key": "november" });
    isRoomLeft = false;
    const second = await post({ "Idempotency-Key": "november" });
    expect(second.status).to.equal(201);
    expect(second.body).to.deep.equal(first.body);
  });

  it("is no reason to refuse a retry by hand", async () => {
    isRoomLeft = false;
    await happen(api.log, job, failed());
    const answered = await api.ask("POST", `/api/jobs/${job.jobId}/retry`);
    expect([answered.status, answered.body.status]).to.deep.equal([200, "queued"]);
  });
});
