import { expect } from "chai";
import { readMailing } from "../../src/commands/read-version.ts";
import { recordEnds, unread } from "../../src/mailings/open-mailing.ts";
import { now } from "../support/examples.ts";
import { cause, decide, draftMailing } from "../support/mailings.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

describe("The ends of very many parts of a mailing", () => {
  let writeSide: WriteSide;
  before(async () => {
    writeSide = await startWriteSide();
  });
  after(() => writeSide.cleanUp());

  it("are recorded in several decisions, as one would be too large for NATS", async () => {
    const mailing = await draftMailing(writeSide);
    const some = Array.from({ length: 1000 }, (_, index) => index);
    for (let file = 0; file < 10; file += 1) {
      const parts = some.map((index) => ({
        jobId: `part-${file}-${index}`,
        recipients: 1000,
        contentSha256: "a".repeat(64),
      }));
      await decide(writeSide, mailing, { type: "AddParts", at: now, parts });
    }
    await decide(writeSide, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const open = { ...unread(mailing), version: await readMailing(writeSide.log, mailing) };
    const counts = { total: 1000, sent: 990, failed: 10, pending: 0, deferred: 0, unknown: 0, suppressed: 0 };
    for (let part = 0; part < 10_000; part += 1) open.ended.set(part, { result: "completed", counts });
    await recordEnds(writeSide.log, open, cause);
    expect(open.ended.size).to.equal(0);
    const types = (await writeSide.log.readMailing(mailing)).map(({ event }) => event.type);
    expect(types.slice(-3)).to.deep.equal(["MailingPartsEnded", "MailingPartsEnded", "MailingCompleted"]);
  });
});
