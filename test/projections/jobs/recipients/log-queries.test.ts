import { expect } from "chai";
import { jobsProjector } from "../../../../projections/jobs/projector.ts";
import {
  createLogQueries,
  type LogListOptions,
  type LogQueries,
} from "../../../../projections/jobs/recipients/log-queries.ts";
import type { JobRef } from "../../../../src/event-log/event-log.ts";
import { lastPlaceOf, placeFromText, placeOf } from "../../../../src/event-log/place.ts";
import { jobCreated, recipientDeferred, recipientFailed, recipientSent } from "../../../support/examples.ts";
import { newJob } from "../../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../../support/read-side.ts";

describe("asking for the logs of a job", () => {
  let side: ReadSide;
  let queries: LogQueries;
  const job = newJob("acme");
  before(async () => {
    side = await openReadSide();
    queries = createLogQueries(side.db);
    side.startProjector(jobsProjector);
    await side.storeContent(job, {
      recipients: [{ email: "ada@example.com" }, { email: "Ada@example.com" }, { email: "%@example.com" }],
    });
    await side.happens(
      job,
      jobCreated(),
      recipientDeferred({ recipient: 0 }),
      recipientFailed({ recipient: 1 }),
      recipientSent({ recipient: 2 }),
      recipientSent({ recipient: 0 }),
    );
    const other = newJob("acme");
    await side.storeContent(other);
    await side.happens(other, jobCreated(), recipientSent());
    await side.caughtUp("jobs");
  });
  after(() => side.cleanUp());

  const list = async (options: Partial<LogListOptions> = {}, of: JobRef = job) =>
    queries.list(of, { status: null, email: null, after: null, limit: 100, ...options });
  const recipients = async (options: Partial<LogListOptions>): Promise<readonly number[]> =>
    (await list(options)).entries.map(({ recipient }) => recipient);

  it("gives those of this job alone, oldest first", async () => {
    expect(await recipients({})).to.deep.equal([0, 1, 2, 0]);
  });

  it("gives one status", async () => {
    expect(await recipients({ status: "success" })).to.deep.equal([2, 0]);
    expect(await recipients({ status: "deferred" })).to.deep.equal([0]);
    expect(await recipients({ status: "unknown" })).to.deep.equal([]);
  });

  it("gives one address, in any spelling", async () => {
    expect(await recipients({ email: "ada@example.com" })).to.deep.equal([0, 1, 0]);
    expect(await recipients({ email: "ADA@example.com" })).to.deep.equal([0, 1, 0]);
    expect(await recipients({ email: "da@example.com" })).to.deep.equal([]);
    expect(await recipients({ email: "%@example.com" })).to.deep.equal([2]);
    expect(await recipients({ email: "ada@example.com", status: "success" })).to.deep.equal([0]);
  });

  it("names each by its place, and a sequence alone means the whole entry", async () => {
    const { entries } = await list({ limit: 1 });
    const id = entries[0]?.id ?? "";
    expect(id).to.match(/^\d+\.\d+$/);
    const [sequence = ""] = id.split(".");
    expect(placeFromText(sequence)).to.equal(lastPlaceOf(Number(sequence)));
    expect(placeFromText(`${sequence}.0`)).to.equal(placeOf({ sequence: Number(sequence), index: 0 }));
    expect(placeFromText(`${sequence}.64`)).to.equal(null);
  });

  it("gives them in parts that fit together", async () => {
    const first = await list({ limit: 3 });
    expect(first.entries).to.have.length(3);
    expect(first.next).to.equal(placeFromText(first.entries[2]?.id ?? ""));
    const second = await list({ limit: 3, after: first.next });
    expect([...first.entries, ...second.entries]).to.deep.equal((await list()).entries);
    expect(second.next).to.equal(null);
  });

  it("promises nothing more after the last part, full as it may be", async () => {
    expect((await list({ limit: 4 })).next).to.equal(null);
  });

  it("gives nothing of another tenant's job", async () => {
    expect((await list({}, { ...job, tenant: "globex" })).entries).to.deep.equal([]);
  });

  it("gives nothing for what is no id, in whatever characters", async () => {
    expect((await list({}, { ...job, jobId: "ünïcödé' OR 1=1" })).entries).to.deep.equal([]);
  });
});
