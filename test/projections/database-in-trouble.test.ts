import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { createJobQueries } from "../../projections/jobs/queries.ts";
import { eventually } from "../support/eventually.ts";
import { jobCreated } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { openReadSide, type ReadSide } from "../support/read-side.ts";

/** As MariaDB says it where there is no room for its temporary files, and Galera where a node has lost the others. */
const troubles = {
  "has no room for a temporary file": [3, 'Error writing file "/tmp/#sql/fd=52" (Errcode: 28)'],
  "has no room for its binary log": [1026, 'Error writing file "binlog" (errno: 28)'],
  "has a full disk": [1030, "Got error 28 from storage engine"],
  "has lost the other nodes of its cluster": [1047, "WSREP has not yet prepared node for application use"],
} as const;

describe("a database that", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
  });
  afterEach(() => side.cleanUp());

  for (const [trouble, [number, words]] of Object.entries(troubles)) {
    it(`${trouble} stops no read model, and it goes on once that is over`, async () => {
      const signal = `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${number}, MESSAGE_TEXT = '${words}'`;
      await side.db.raw(`CREATE TRIGGER trouble BEFORE INSERT ON jobs FOR EACH ROW ${signal}`);
      side.startProjector(jobsProjector);
      const job = newJob();
      await side.happens(job, jobCreated());
      await eventually(() => expect(side.logged.map(({ message }) => message)).not.to.be.empty);
      await side.db.raw("DROP TRIGGER trouble");
      await eventually(async () => expect((await createJobQueries(side.db).find(job)).job).not.to.equal(null), 10_000);
      expect(side.logged.filter(({ level }) => level === "error")).to.deep.equal([]);
    });
  }
});
