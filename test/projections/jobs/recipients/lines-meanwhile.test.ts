import { expect } from "chai";
import type { Knex } from "knex";
import { jobsProjector } from "../../../../projections/jobs/projector.ts";
import { createLogQueries } from "../../../../projections/jobs/recipients/log-queries.ts";
import type { JobRef } from "../../../../src/event-log/event-log.ts";
import { placeFromText } from "../../../../src/event-log/place.ts";
import { createPart } from "../../../../src/mailings/create-part.ts";
import { jobStarted, now, recipientSent } from "../../../support/examples.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../../../support/mailings.ts";
import { openReadSide, type ReadSide } from "../../../support/read-side.ts";

/** The same database; something happens between one question and the next, once. */
function between(db: Knex, question: string, act: () => Promise<void>): Knex {
  let hasHappened = false;
  const raw = async (sql: string, bindings: readonly Knex.RawBinding[] = []): Promise<unknown> => {
    const found = await db.raw(sql, bindings);
    if (hasHappened || !sql.includes(question)) return found;
    hasHappened = true;
    await act();
    return found;
  };
  return new Proxy(db, { get: (target, name) => (name === "raw" ? raw : Reflect.get(target, name)) });
}

describe("The log of a mailing, page after page while it is mailed", () => {
  let side: ReadSide;
  before(async () => {
    side = await openReadSide();
    side.startProjector(jobsProjector);
  });
  after(() => side.cleanUp());

  it("lacks no line of a part to which nothing had happened for a while", async () => {
    const mailing = await draftMailing(side);
    for (const from of [0, 10]) await importInto(side, mailing, people(2, from));
    await decide(side, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const state = await stateOf(side, mailing);
    const parts: JobRef[] = [];
    for (const number of [0, 1]) {
      const made = await createPart(
        { ...side, room: { isLeftForJobs: async () => true } },
        mailing,
        state,
        number,
        cause,
      );
      parts.push(made.ref);
      await side.happens(made.ref, jobStarted(), recipientSent({ recipient: 0 }));
    }
    await side.caughtUp("jobs");
    const pageAfter = async (after: string, db = side.db) => {
      const options = { status: null, email: null, after: placeFromText(after), limit: 10 };
      return (await createLogQueries(db).listOfMailing(mailing, options)).entries;
    };
    const last = (await pageAfter("0")).at(-1)?.id ?? "";
    const meanwhile = between(side.db, "last_sequence >=", async () => {
      for (const part of parts) await side.happens(part, recipientSent({ recipient: 1 }));
      await side.caughtUp("jobs");
    });
    const page = await pageAfter(last, meanwhile);
    const rest = await pageAfter(page.at(-1)?.id ?? last);
    expect([...page, ...rest].map(({ jobId }) => jobId)).to.deep.equal(parts.map(({ jobId }) => jobId));
  });
});
