import { expect } from "chai";
import { decodeContent } from "../../src/content/encode-content.ts";
import type { ErasurePorts } from "../../src/erasure/complete-erasure.ts";
import { eraseLeftover, eraseUnmadeParts } from "../../src/erasure/erase-leftovers.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { Archived } from "../../src/event-log/log-failures.ts";
import { createPart } from "../../src/mailings/create-part.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { now } from "../support/examples.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../support/mailings.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const request = { address: "PERSON3@example.com", reason: "asked for", cause, at: now };
const nothing = { erased: 0, notEnded: [], mailings: [] };

describe("Parts of mailings that are no jobs", () => {
  let side: WriteSide;
  let ports: ErasurePorts;
  let mailing: JobRef;

  before(async () => {
    side = await startWriteSide();
    const { log, contentStore, suppressions } = side;
    ports = { log, contentStore, results: createMemoryResultStore(), outbox: emptyOutbox, suppressions };
  });
  after(() => side.cleanUp());

  /** Of two parts; the person is in the second. */
  beforeEach(async () => {
    mailing = await draftMailing(side);
    await importInto(side, mailing, people(2));
    await importInto(side, mailing, people(2, 2));
  });

  const partIds = async () => (await stateOf(side, mailing)).parts.map(({ jobId }) => jobId);
  const addressesOf = async (jobId: string | undefined) => {
    const content = await side.contentStore.get({ ...mailing, jobId: jobId ?? "" });
    return content === null ? null : decodeContent(content).recipients.map((recipient) => recipient?.email);
  };
  const start = () => decide(side, mailing, { type: "StartMailing", at: now, scheduledAt: null });

  it("are named as long as their mailing may mail them, and left as they are", async () => {
    const [, second] = await partIds();
    const named = { erased: 0, notEnded: [second], mailings: [mailing.jobId] };
    expect(await eraseUnmadeParts(ports, [mailing], request)).to.deep.equal(named);
    await start();
    expect(await eraseUnmadeParts(ports, [mailing], request)).to.deep.equal(named);
    await decide(side, mailing, { type: "PauseMailing", at: now, reason: null });
    expect(await eraseUnmadeParts(ports, [mailing], request)).to.deep.equal(named);
    expect(await addressesOf(second)).to.deep.equal(people(2, 2));
    const other = { ...request, address: "nobody@example.com" };
    expect(await eraseUnmadeParts(ports, [mailing], other)).to.deep.equal(nothing);
  });

  it("are erased where their mailing was cancelled and nobody has done it yet, and can be made no more", async () => {
    const [first, second] = await partIds();
    await start();
    const started = await stateOf(side, mailing);
    await decide(side, mailing, { type: "CancelMailing", at: now, reason: null });
    expect(await eraseUnmadeParts(ports, [mailing], request)).to.deep.equal({ ...nothing, erased: 1 });
    expect(await addressesOf(second)).to.equal(null);
    expect(await addressesOf(first)).to.deep.equal(people(2));
    const making = createPart({ ...side, room: { isLeftForJobs: async () => true } }, mailing, started, 1, cause);
    expect(await making.catch((failure: Error) => failure.message)).to.match(/it was abandoned/);
    expect(await eraseUnmadeParts(ports, [mailing], request)).to.deep.equal(nothing);
  });

  it("keep nobody in the other ones where the file of the archive with their mailing is not at hand", async () => {
    const archived = mailing;
    mailing = await draftMailing(side);
    await importInto(side, mailing, people(4));
    await decide(side, mailing, { type: "CancelMailing", at: now, reason: null });
    const readMailing: typeof side.log.readMailing = async (ref, from) => {
      if (ref.jobId === archived.jobId) throw new Archived("log-1-2.waybill", "it is not there");
      return await side.log.readMailing(ref, from);
    };
    const without = { ...ports, log: { ...side.log, readMailing } };
    expect(await eraseUnmadeParts(without, [archived, mailing], request)).to.deep.equal({ ...nothing, erased: 1 });
  });

  it("are not asked for in the log once the mailing was cancelled and they are erased", async () => {
    await decide(side, mailing, { type: "CancelMailing", at: now, reason: null });
    for (const jobId of await partIds()) {
      await eraseLeftover(ports, { job: { ...mailing, jobId }, attachment: null }, request);
    }
    const lastDecision = () => Promise.reject(new Error("The archive would be read for it."));
    const without = { ...ports, log: { ...side.log, lastDecision } };
    expect(await eraseUnmadeParts(without, [mailing], request)).to.deep.equal(nothing);
  });

  it("are nothing to look for once they are jobs", async () => {
    await start();
    const room = { isLeftForJobs: async () => true };
    for (const part of [0, 1]) await createPart({ ...side, room }, mailing, await stateOf(side, mailing), part, cause);
    expect(await eraseUnmadeParts(ports, [mailing], request)).to.deep.equal(nothing);
  });
});
