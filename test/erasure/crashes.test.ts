import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { readJob } from "../../src/commands/read-version.ts";
import { decodeContent, digestOf, encodeContent } from "../../src/content/encode-content.ts";
import { createEraser, type ErasurePorts } from "../../src/erasure/complete-erasure.ts";
import { eraseAddress } from "../../src/erasure/erase-address.ts";
import { eraseJob } from "../../src/erasure/erase-job.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { emptyOutbox } from "../support/empty-outbox.ts";
import { eventually } from "../support/eventually.ts";
import { cancelJob, jobCreated, now } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { createMemoryResultStore } from "../support/memory/memory-result-store.ts";
import { exampleJobContent } from "../support/read-side.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const cause = { actor: "key:k1", correlationId: "r1", causationId: null, traceparent: null };
const request = { isRetired: false, reason: "asked for", cause, at: now };

describe("an erasure that breaks off", () => {
  let side: WriteSide;
  let mailServer: TestMailServer;
  let ports: ErasurePorts;

  before(async () => {
    [side, mailServer] = await Promise.all([startWriteSide(), startMailServer()]);
    ports = {
      log: side.log,
      contentStore: side.contentStore,
      results: createMemoryResultStore(),
      outbox: emptyOutbox,
      suppressions: side.suppressions,
    };
  });
  after(async () => {
    await side.cleanUp();
    await mailServer.stop();
  });

  const cancelled = async (...recipients: readonly string[]): Promise<JobRef> => {
    const job = await side.createJob(recipients);
    await handleCommand(side.log, job, cancelJob(), cause);
    return job;
  };
  /** The process dies after the decision: nothing can be overwritten any more. */
  const dying: ErasurePorts["contentStore"]["erase"] = async () => {
    throw new Error("killed");
  };
  const dyingPorts = (): ErasurePorts => ({
    ...ports,
    contentStore: { ...side.contentStore, maxBytes: 1, erase: dying, rewrite: dying },
  });
  const addressesIn = async (job: JobRef) => {
    const stored = await side.contentStore.get(job);
    return stored === null ? null : decodeContent(stored).recipients.map((recipient) => recipient?.email ?? null);
  };
  const erasuresOf = async (job: JobRef) =>
    (await side.log.readDecisions(job)).filter(({ event }) => event.type === "JobContentErased");

  it("is completed by a repeated request, and decided once", async () => {
    const job = await cancelled("ada@example.com");
    expect((await failureOf(eraseJob(dyingPorts(), job, request))).message).to.equal("killed");
    expect(await addressesIn(job)).to.deep.equal(["ada@example.com"]);
    await eraseJob(ports, job, request);
    expect(await addressesIn(job)).to.equal(null);
    expect(await erasuresOf(job)).to.have.lengthOf(1);
  });

  it("of one address is completed by a repeated request", async () => {
    const job = await cancelled("ada@example.com", "bob@example.com");
    const ada = { address: "Ada@example.com", reason: "asked for", cause, at: now };
    await failureOf(eraseAddress(dyingPorts(), job, ada));
    expect(await addressesIn(job)).to.deep.equal(["ada@example.com", "bob@example.com"]);
    expect(await eraseAddress(ports, job, ada)).to.deep.include({ outcome: "erased" });
    expect(await eraseAddress(ports, job, ada)).to.deep.include({ outcome: "nothing-left" });
    expect(await addressesIn(job)).to.deep.equal([null, "bob@example.com"]);
    expect(await erasuresOf(job)).to.have.lengthOf(1);
  });

  it("is completed without another request, in any process", async () => {
    const [whole, part] = [await cancelled("ada@example.com"), await cancelled("ada@example.com", "bob@example.com")];
    await failureOf(eraseJob(dyingPorts(), whole, request));
    await failureOf(eraseAddress(dyingPorts(), part, { ...request, address: "bob@example.com" }));
    const failures: unknown[] = [];
    const eraser = side.listen(createEraser(ports), (failure) => failures.push(failure));
    await eventually(async () => {
      expect([await addressesIn(whole), await addressesIn(part)]).to.deep.equal([null, ["ada@example.com", null]]);
    });
    await eraser.stop();
    expect(failures).to.deep.equal([]);
  });

  it("is completed for the row of the outbox, too, once the database is there again", async () => {
    const job = { tenant: "default", jobId: "job-of-a-row" };
    const content = encodeContent({ ...exampleJobContent, recipients: [{ email: "ada@example.com" }] });
    const ofRow = { actor: "outbox", correlationId: "row-1", causationId: null, traceparent: null };
    const event = jobCreated({ total: 1, contentSha256: digestOf(content) });
    await side.contentStore.put(job, content);
    await side.log.append(job, [{ ...ofRow, id: "job-of-a-row/created", event }], 0);
    await handleCommand(side.log, job, cancelJob(), cause);
    const erasedRows: string[] = [];
    let isAway = true;
    const eraseRow = async (tenant: string, rowId: string): Promise<void> => {
      if (isAway) throw new Error("the database is away");
      erasedRows.push(`${tenant}/${rowId}`);
    };
    const withDatabase = { ...ports, outbox: { eraseRow } };
    expect((await failureOf(eraseJob(withDatabase, job, request))).message).to.equal("the database is away");
    expect(await addressesIn(job), "what NATS holds waits for no database").to.equal(null);
    isAway = false;
    const eraser = side.listen(createEraser(withDatabase));
    await eventually(async () => expect(erasedRows).to.include("default/row-1"), 20_000);
    await eraser.stop();
    expect(await erasuresOf(job)).to.have.lengthOf(1);
  });

  it("of several people at once loses none of them, and the log names what is left", async () => {
    const people = Array.from({ length: 8 }, (_, index) => `${index}@example.com`);
    const job = await cancelled(...people);
    await Promise.all(
      people.slice(1).map((address) => eraseAddress(ports, job, { address, reason: "all of them", cause, at: now })),
    );
    expect(await addressesIn(job)).to.deep.equal(["0@example.com", ...people.slice(1).map(() => null)]);
    const { state } = await readJob(side.log, job);
    expect(state.status === "absent" ? null : state.settings.contentSha256).to.equal(
      digestOf((await side.contentStore.get(job)) ?? ""),
    );
  });

  it("is refused for a job that has not ended, which keeps its content", async () => {
    const job = await side.createJob(["ada@example.com"]);
    const outcome = await eraseJob(ports, job, request);
    expect(outcome).to.deep.include({ rejection: { code: "job-has-not-ended", currentStatus: "pending" } });
    const ofAda = await eraseAddress(ports, job, { ...request, address: "ada@example.com" });
    expect(ofAda).to.deep.equal({ outcome: "not-ended" });
    expect(await addressesIn(job)).to.deep.equal(["ada@example.com"]);
  });

  it("leaves a job that can be run again, except for the erased recipient", async () => {
    const both = ["ada@example.net", "bob@example.net"];
    for (const address of both) mailServer.answerRecipient(address, { code: 550, text: "5.7.1 no" });
    side.startScheduler();
    side.startWorker(mailServer.url);
    const job = await side.createJob(both);
    await eventually(async () => expect((await side.readView(job)).status).to.equal("failed"));
    await eraseAddress(ports, job, { ...request, address: "ada@example.net" });
    for (const address of both) mailServer.answerRecipient(address, null);
    await handleCommand(side.log, job, { type: "RetryJob", at: now, scope: "failed", reason: null }, cause);
    await eventually(async () => expect((await side.readView(job)).status).to.equal("completed"));
    const mailed = mailServer.mails.flatMap(({ to }) => to).filter((address) => both.includes(address));
    expect(mailed).to.deep.equal(["bob@example.net"]);
    const last = (await side.log.readRecipients(job)).findLast(({ event }) => event.type === "RecipientFailed");
    expect(last?.event.data).to.deep.include({ recipient: 0, run: 2 });
    expect(last?.event.data).to.have.nested.property("error.code", "recipient-erased");
  });
});
