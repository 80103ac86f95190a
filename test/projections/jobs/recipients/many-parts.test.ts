import { expect } from "chai";
import { jobsProjector } from "../../../../projections/jobs/projector.ts";
import { createLogQueries } from "../../../../projections/jobs/recipients/log-queries.ts";
import {
  createRecipientQueries,
  type MailingRecipientCursor,
  type MailingRecipientOptions,
} from "../../../../projections/jobs/recipients/queries.ts";
import type { JobRef } from "../../../../src/event-log/event-log.ts";
import { createPart } from "../../../../src/mailings/create-part.ts";
import { jobStarted, now, recipientDeferred, recipientFailed, recipientSent } from "../../../support/examples.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../../../support/mailings.ts";
import { openReadSide, type ReadSide } from "../../../support/read-side.ts";
import { linesInLog } from "./lines-in-log.ts";

/** More than one page looks into, of recipients and of lines. */
const partCount = 120;

describe("A mailing of more parts than a page looks into", function () {
  this.timeout(120_000);

  let side: ReadSide;
  let mailing: JobRef;
  let parts: readonly JobRef[];

  before(async () => {
    side = await openReadSide();
    mailing = await draftMailing(side);
    for (let part = 0; part < partCount; part += 1) await importInto(side, mailing, people(2, part * 10));
    await decide(side, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const state = await stateOf(side, mailing);
    parts = state.parts.map(({ jobId }) => ({ ...mailing, jobId }));
    const room = { isLeftForJobs: async () => true };
    for (const [number, part] of parts.entries()) {
      await createPart({ ...side, room }, mailing, state, number, cause);
      await side.happens(part, jobStarted(), recipientDeferred({ recipient: 0 }));
      // What happens late to an early part stands between the lines of later ones.
      const early = parts[number - 30];
      if (early !== undefined) await side.happens(early, recipientSent({ recipient: 0, attempt: 2 }));
      if (number === partCount - 1) await side.happens(parts[0] ?? part, recipientFailed({ recipient: 1 }));
    }
    side.startProjector(jobsProjector);
    await side.caughtUp("jobs");
  });
  after(() => side.cleanUp());

  async function allRecipients(options: Pick<MailingRecipientOptions, "statuses" | "pageSize">) {
    const queries = createRecipientQueries(side.db);
    const found: string[] = [];
    let pages = 0;
    for (let cursor: MailingRecipientCursor | null = null; ; ) {
      const page = await queries.ofMailing(mailing, { email: null, ...options, cursor });
      expect(page.recipients.length).to.be.at.most(options.pageSize);
      found.push(...page.recipients.map(({ jobId, recipient }) => `${jobId} ${recipient}`));
      pages += 1;
      cursor = page.next;
      if (cursor === null) return { found, pages };
    }
  }

  it("has each recipient on one page, in pages that end before they are full", async () => {
    const expected = parts.flatMap(({ jobId }) => [`${jobId} 0`, `${jobId} 1`]).sort();
    for (const pageSize of [7, 100, 1000]) {
      const { found, pages } = await allRecipients({ statuses: [], pageSize });
      // All parts were made in the same millisecond, by the clock of the test: their ids decide.
      expect(found.toSorted(), `in pages of ${pageSize}`).to.deep.equal(expected);
      expect(new Set(found).size).to.equal(found.length);
      expect(pages).to.be.at.least(Math.ceil(expected.length / pageSize));
    }
    const { found } = await allRecipients({ statuses: ["failed"], pageSize: 10 });
    expect(found).to.deep.equal([`${parts[0]?.jobId} 1`]);
  });

  it("has each line once, in the order of the log, in pages of any length", async () => {
    const expected = await linesInLog(side.log, parts);
    expect(expected).to.have.lengthOf(partCount + (partCount - 30) + 1);
    const queries = createLogQueries(side.db);
    for (const limit of [1, 10, 5000]) {
      const found: string[] = [];
      for (let after: number | null = null; ; ) {
        const page = await queries.listOfMailing(mailing, { status: null, email: null, after, limit });
        found.push(...page.entries.map(({ id }) => id));
        after = page.next;
        if (after === null) break;
      }
      expect(found, `in pages of ${limit}`).to.deep.equal(expected);
    }
    const { entries, next } = await queries.listOfMailing(mailing, {
      status: "failed",
      email: null,
      after: null,
      limit: 100,
    });
    expect([entries.length, next]).to.deep.equal([1, null]);
    expect(entries[0]?.jobId).to.equal(parts[0]?.jobId);
  });
});
