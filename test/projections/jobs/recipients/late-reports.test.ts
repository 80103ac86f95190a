import { expect } from "chai";
import type { Knex } from "knex";
import { jobsProjector } from "../../../../projections/jobs/projector.ts";
import { createLogQueries } from "../../../../projections/jobs/recipients/log-queries.ts";
import { inTransaction } from "../../../../src/database/database.ts";
import type { JobRef } from "../../../../src/event-log/event-log.ts";
import { placeOf } from "../../../../src/event-log/place.ts";
import { createPart } from "../../../../src/mailings/create-part.ts";
import { jobCompleted, jobStarted, now, recipientBounced, recipientSent } from "../../../support/examples.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../../../support/mailings.ts";
import { openReadSide, type ReadSide } from "../../../support/read-side.ts";
import { linesInLog } from "./lines-in-log.ts";

const [partCount, recipientsOfPart] = [60, 40];

describe("The log of a mailing of which mails came back long after its parts had ended", function () {
  this.timeout(120_000);

  let side: ReadSide;
  let mailing: JobRef;
  let parts: readonly JobRef[];
  /** The place of the creation of the last part. */
  let late = 0;

  before(async () => {
    side = await openReadSide();
    mailing = await draftMailing(side);
    for (let part = 0; part < partCount; part += 1) {
      await importInto(side, mailing, people(recipientsOfPart, part * recipientsOfPart));
    }
    await decide(side, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const state = await stateOf(side, mailing);
    parts = state.parts.map(({ jobId }) => ({ ...mailing, jobId }));
    const room = { isLeftForJobs: async () => true };
    for (const [number, part] of parts.entries()) {
      await createPart({ ...side, room }, mailing, state, number, cause);
      late = placeOf({ sequence: await side.log.lastDecision(part), index: 0 });
      const sent = Array.from({ length: recipientsOfPart }, (_, recipient) => recipientSent({ recipient }));
      await side.happens(part, jobStarted(), ...sent, jobCompleted());
    }
    for (const part of parts) await side.happens(part, recipientBounced({ recipient: 1 }));
    side.startProjector(jobsProjector);
    await side.caughtUp("jobs");
  });
  after(() => side.cleanUp());

  it("is read page by page without the outcomes of the parts that had ended before a page", async () => {
    const options = { status: null, email: null, after: late, limit: 5 };
    const reads = await inTransaction(side.db, async (transaction) => {
      const before = await rowsRead(transaction);
      const { entries } = await createLogQueries(transaction).listOfMailing(mailing, options);
      expect(entries).to.have.length(5);
      return (await rowsRead(transaction)) - before;
    });
    expect(reads).to.be.lessThan((partCount * recipientsOfPart) / 2);
  });

  it("has each line once, those of what came back as well", async () => {
    const expected = await linesInLog(side.log, parts);
    const found: string[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const options = { status: null, email: null, after, limit: 70 };
      const { entries, next } = await createLogQueries(side.db).listOfMailing(mailing, options);
      found.push(...entries.map(({ id }) => id));
      after = next;
    }
    expect(found).to.deep.equal(expected);
  });
});

async function rowsRead(transaction: Knex.Transaction): Promise<number> {
  const [counters] = await transaction.raw("SHOW SESSION STATUS LIKE 'Handler_read%'");
  return counters.reduce((sum: number, { Value }: { Value: string }) => sum + Number(Value), 0);
}
