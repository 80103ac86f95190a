import { expect } from "chai";
import { allProjectors } from "../../projections/all-projectors.ts";
import { writeStatus } from "../../projections/following/projection-status.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { holdingRebuildLocks } from "../../projections/rebuilding/rebuild-lock.ts";
import { createTables } from "../../projections/rebuilding/table-set.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { now } from "../support/examples.ts";
import { liveTables } from "../support/read-side.ts";
import { startApi } from "../support/running-api.ts";

const version = jobsProjector.version;

describe("The read models, to operators", () => {
  let service: ApiWithReadSide;

  beforeEach(async () => {
    service = await startApiWithReadSide();
    await service.readSide.mailing();
    await liveTables(service.readSide);
  });
  afterEach(() => service.close());

  const ask = (method: string, path: string) => service.api.ask(method, `/api/admin/projections${path}`);
  const jobs = async () => {
    const { status, body } = await ask("GET", "");
    expect(status).to.equal(200);
    return body.data[0];
  };

  it("are all there are, each with how far it has come", async () => {
    const { body } = await ask("GET", "");
    expect(body.data.map(({ name }: { name: string }) => name)).to.deep.equal(allProjectors.map(({ name }) => name));
    expect(body.lastSequence).to.equal(6);
    expect(body.data[0]).to.deep.equal({
      name: "jobs",
      version,
      status: "live",
      error: null,
      stoppedAtSequence: null,
      live: { version, sequence: 6 },
      next: null,
      kept: null,
      request: null,
    });
  });

  it("tell of a stop, of a rebuild that goes on, and of rows that were kept", async () => {
    const { db, rebuild } = service.readSide;
    await rebuild([jobsProjector]);
    await writeStatus(db, jobsProjector, { status: "stopped", error: "Event 3 is odd.", stoppedAtSequence: 3 });
    expect(await jobs()).to.deep.include({
      status: "stopped",
      error: "Event 3 is odd.",
      stoppedAtSequence: 3,
      kept: { version, sequence: 6 },
    });
    await createTables(db, jobsProjector, "__next");
    await holdingRebuildLocks(db, [jobsProjector], async () => {
      expect(await jobs()).to.deep.include({ status: "rebuilding", next: { version, sequence: 0 } });
    });
  });

  it("are rebuilt on request; the request is stored once and logged", async () => {
    const request = { requestedAt: now, requestedBy: "anonymous", error: null };
    for (const _ of [1, 2]) {
      const { status, body } = await ask("POST", "/jobs/rebuild");
      expect({ status, body }).to.deep.equal({ status: 202, body: request });
    }
    expect((await jobs()).request).to.deep.equal(request);
    expect(await service.readSide.db("rebuild_requests").select("projection")).to.deep.equal([{ projection: "jobs" }]);
    const logged = service.api.logged.map((line) => JSON.parse(line));
    expect(logged.find(({ msg }) => msg === "rebuild requested")).to.include({
      projection: "jobs",
      actor: "anonymous",
    });
  });

  it("are not, where there is none of that name", async () => {
    for (const name of ["nothing", "jobs__next", "JOBS"]) {
      const { status, body } = await ask("POST", `/${name}/rebuild`);
      expect({ status, code: body.code }).to.deep.equal({ status: 404, code: "projection-not-found" });
    }
    expect(await service.readSide.db("rebuild_requests").select()).to.deep.equal([]);
  });

  it("cannot be told, nor rebuilt, while the database is away: nothing is promised", async () => {
    const without = await startApi();
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/jobs/rebuild"],
    ] as const) {
      const { status, body } = await without.ask(method, `/api/admin/projections${path}`);
      expect({ status, code: body.code }).to.deep.equal({ status: 503, code: "read-model-unavailable" });
    }
    await without.close();
  });
});
