import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import type { ContentStore } from "../../src/content/content-store.ts";
import type { RecipientCounts } from "../../src/domain/job/events.ts";
import { noCounts } from "../../src/domain/mailing/counts.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createPart } from "../../src/mailings/create-part.ts";
import { trustNothing } from "../../src/seals/check.ts";
import { type EvidenceSources, makeEvidence, signed } from "../../src/seals/evidence.ts";
import type { EvidenceStatement } from "../../src/seals/evidence-format.ts";
import { linesOfEvidence } from "../../src/seals/evidence-report.ts";
import { indexOfParts } from "../../src/seals/mailing-parts.ts";
import { verifyEvidence } from "../../src/seals/verify-evidence.ts";
import { caused, now } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../support/mailings.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { openSealingSide, type SealingSide } from "./sealing.ts";

describe("The evidence of a mailing", () => {
  let nats: TestNats;
  let side: SealingSide;
  let contentStore: ContentStore;
  let mailing: JobRef;
  let bundle: string;

  const sources = (): EvidenceSources => ({ ...side, contentStore, now: () => now });
  const counts = (given: Partial<RecipientCounts>): RecipientCounts => ({ ...noCounts, ...given });
  const statementOf = (text: string): EvidenceStatement => JSON.parse(text.split("\n")[0] ?? "");
  const faults = (text: string): string =>
    verifyEvidence(Buffer.from(text), trustNothing)
      .checks.filter(({ ok }) => !ok)
      .map(({ what, detail }) => `${what}. ${detail}`)
      .join("\n");
  /** By someone who has the key. */
  const forged = (change: (statement: EvidenceStatement) => EvidenceStatement): string =>
    signed(change(statementOf(bundle)), side.key);

  before(async () => {
    nats = await startNats();
    side = await openSealingSide(nats);
    contentStore = createMemoryContentStore();
    const stored = { log: side.log, contentStore };
    await side.jobHappens(4);
    mailing = await draftMailing(stored, "acme");
    await importInto(stored, mailing, people(3));
    await importInto(stored, mailing, people(2, 10));
    await decide(stored, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    await createPart(
      { ...stored, room: { isLeftForJobs: async () => true } },
      mailing,
      await stateOf(stored, mailing),
      0,
      cause,
    );
    await side.jobHappens(3);
    const parts = [
      { part: 0, result: "completed" as const, counts: counts({ total: 3, sent: 3 }) },
      { part: 1, result: "completed" as const, counts: counts({ total: 2, sent: 1, failed: 1 }) },
    ];
    await decide(stored, mailing, { type: "EndParts", at: now, parts, retries: 0 });
    const told = {
      type: "WebhookDelivered",
      at: now,
      data: {
        deliveryId: "d1",
        endpoint: "e1",
        type: "mailing.completed",
        jobSequence: 9,
        round: 1,
        attempt: 1,
        statusCode: 204,
      },
    } as const;
    await side.log.record(mailing, [caused("told", told)]);
    await side.newSealer().sealNow();
    bundle = (await makeEvidence(sources(), mailing)) ?? "";
  });
  after(async () => {
    await side.close();
    await nats.cleanUp();
  });

  it("is whole, sealed entry by entry, and holds the letter and who was told of the end", () => {
    expect(faults(bundle)).to.equal("");
    const { entries, content, jobId } = statementOf(bundle);
    expect(jobId).to.equal(mailing.jobId);
    expect(entries.flatMap(({ body }) => JSON.parse(body).map(({ type }: { type: string }) => type))).to.deep.equal([
      "MailingCreated",
      "MailingPartsAdded",
      "MailingPartsAdded",
      "MailingStarted",
      "MailingPartsEnded",
      "MailingCompleted",
      "WebhookDelivered",
    ]);
    expect(entries.every(({ proof }) => proof !== null)).to.equal(true);
    expect(JSON.parse(content ?? "")).to.include({ subject: "Hello" });
    // Recipients are in the evidence of the parts.
    expect(bundle).not.to.include("person0@");
  });

  it("lists every part with its number, its job, its content and its result", async () => {
    const { parts } = await stateOf({ log: side.log, contentStore }, mailing);
    const report = verifyEvidence(Buffer.from(bundle), trustNothing);
    expect(indexOfParts(report.events)?.parts).to.deep.equal(
      parts.map(({ result: _, ...part }, number) => ({ part: number, ...part })),
    );
    const text = linesOfEvidence(report).join("\n");
    for (const line of [
      `Evidence about mailing ${mailing.jobId} of tenant acme`,
      "Recipients: 5, in 2 parts.",
      `  0. job ${parts[0]?.jobId}, 3 recipients, content SHA-256 ${parts[0]?.contentSha256}: 3 sent`,
      `  1. job ${parts[1]?.jobId}, 2 recipients, content SHA-256 ${parts[1]?.contentSha256}: 1 sent, 1 failed`,
      "No part of the mailing is missing from the index, and their counts add up. 2 parts.",
    ]) {
      expect(text).to.include(line);
    }
  });

  it("shows that a part is missing, even where the service itself has left it out", () => {
    const without = (what: string) =>
      forged((statement) => ({
        ...statement,
        entries: statement.entries.filter(({ body }) => !body.includes(what)),
      }));
    const added = (first: number) => `"first":${first}`;
    expect(faults(without(added(0)))).to.match(/No part .* missing.*its first part is 1, and there were 0/);
    expect(faults(without(added(1)))).to.match(
      /it was started with 2 parts and 5 recipients, and 1 with 3 recipients are named/,
    );
    const altered = forged((statement) => ({
      ...statement,
      entries: statement.entries.map((entry) => ({ ...entry, body: entry.body.replace('"sent":3', '"sent":2') })),
    }));
    expect(faults(altered)).to.match(/not the sum of those of its parts/);
  });

  it("of a part is that of a job, with the digest that the index names", async () => {
    const { parts } = await stateOf({ log: side.log, contentStore }, mailing);
    const text = (await makeEvidence(sources(), { ...mailing, jobId: parts[0]?.jobId ?? "" })) ?? "";
    expect(faults(text)).to.equal("");
    const [created] = verifyEvidence(Buffer.from(text), trustNothing).events;
    expect(created?.data).to.include({ contentSha256: parts[0]?.contentSha256, mailingId: mailing.jobId });
  });

  it("of a part that was erased before it became a job is none, as there is no job to prove anything of", async () => {
    const unmade = newJob("acme");
    const abandon = { type: "AbandonJob", at: now, reason: "Its mailing was cancelled." } as const;
    await handleCommand(side.log, unmade, abandon, cause);
    expect(await side.log.readHistory(unmade)).to.have.lengthOf(1);
    expect(await makeEvidence(sources(), unmade)).to.equal(null);
  });

  it("says that the letter was erased once it was", async () => {
    const stored = { log: side.log, contentStore };
    await decide(stored, mailing, {
      type: "RetireMailing",
      at: now,
      restingBefore: "2999-01-01T00:00:00.000Z",
      reason: "retention",
    });
    const erased = (await makeEvidence(sources(), mailing)) ?? "";
    expect(faults(erased)).to.equal("");
    expect(statementOf(erased).content).to.equal(null);
    expect(linesOfEvidence(verifyEvidence(Buffer.from(erased), trustNothing)).join("\n")).to.include(
      "The letter was erased.",
    );
  });
});
