import { expect } from "chai";
import { waitingProjector } from "../../../projections/waiting/projector.ts";
import { inTransaction } from "../../../src/database/database.ts";
import type { StoredEvent } from "../../../src/event-log/event-log.ts";
import { jobCompleted, jobCreated, jobStarted } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

const [long, other] = ["9".repeat(64), "8".repeat(64)];
const before = 2_000;

describe(`A job of a group that waits behind ${before} others`, () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
    // Beside many groups of one job each, by which statistics take this one for a short one, too.
    const rows = Array.from({ length: 2 * before }, (_, number) => ({
      ...{ job_id: `job-${number}`, tenant: "default", place: number - 2 * before },
      group_sha256: number % 2 === 0 ? long : String(number).padStart(64, "0"),
      ...{ due_at: new Date(), run: 1, attempt: 1, opening: 0, type: "email.send", priority: "normal" },
      ...{ cause_id: "cause", cause_sequence: 1 },
    }));
    await side.db("waiting").insert(rows);
    await side.db.raw("ANALYZE TABLE waiting");
  });
  afterEach(() => side.cleanUp());

  for (const groups of [[long], [long, other]]) {
    it(`costs no look at each of them, in a batch of ${groups.length === 1 ? "one group" : "two groups"}`, async () => {
      const stored: StoredEvent[] = [];
      for (const groupSha256 of groups) {
        const job = newJob();
        await side.happens(job, jobCreated({ groupSha256 }), jobStarted(), jobCompleted());
        stored.push(...(await side.log.readDecisions(job)).slice(0, 1));
      }
      const reads = await inTransaction(side.db, async (transaction) => {
        const rowsRead = async (): Promise<number> => {
          const [counters] = await transaction.raw("SHOW SESSION STATUS LIKE 'Handler_read%'");
          return counters.reduce((sum: number, { Value }: { Value: string }) => sum + Number(Value), 0);
        };
        const begin = await rowsRead();
        const sources = { readContent: async () => null };
        const events = stored as Parameters<typeof waitingProjector.project>[0];
        await waitingProjector.project(events, { transaction, suffix: "", sources });
        return (await rowsRead()) - begin;
      });
      // Each look at the counters reads some hundred of them.
      expect(reads).to.be.lessThan(before);
      const ready = await side.db("waiting").whereNotNull("ready_at").orderBy("place").pluck("group_sha256");
      expect(ready).to.deep.equal(groups);
    });
  }
});
