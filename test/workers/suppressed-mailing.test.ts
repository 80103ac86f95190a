import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { progressOf } from "../../src/domain/job/job-view.ts";
import type { SuppressionReason } from "../../src/domain/recipients/events.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import type { Pace } from "../../src/mail/pace.ts";
import { eventually } from "../support/eventually.ts";
import { jobStarted, now, recipientsClaimed } from "../support/examples.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const people = (count: number): string[] => Array.from({ length: count }, (_, index) => `person${index}@example.com`);

function closedGate() {
  let letGo: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  return { gate, letGo };
}

describe("a mailing to a suppressed recipient", () => {
  let writeSide: WriteSide;
  let mailServer: TestMailServer;

  beforeEach(async () => {
    [writeSide, mailServer] = await Promise.all([startWriteSide(), startMailServer()]);
    writeSide.startScheduler();
  });
  afterEach(async () => {
    mailServer.release();
    await writeSide.cleanUp();
    await mailServer.stop();
  });

  const suppress = (email: string, reason: SuppressionReason = "unsubscribe", tenant = "default") =>
    writeSide.suppressions.add(tenant, email, reason, now);
  const ended = (job: JobRef, status = "completed") =>
    eventually(async () => {
      const view = await writeSide.readView(job);
      expect(view.status).to.equal(status);
      return view;
    });
  const eventsOf = async (job: JobRef) => (await writeSide.log.readRecipients(job)).map(({ event }) => event);
  const mailed = () => mailServer.mails.flatMap(({ to }) => to).sort();

  it("mails the others, claims nothing for those, and tells why", async () => {
    await suppress("Person1@EXAMPLE.com", "manual");
    await suppress("person2@example.com", "unsubscribe", "somebody-else");
    writeSide.startWorker(mailServer.url);
    const job = await writeSide.createJob(people(3));
    expect(progressOf(await ended(job))).to.include({ total: 3, sent: 2, suppressed: 1, failed: 0, pending: 0 });
    expect(mailed()).to.deep.equal(["person0@example.com", "person2@example.com"]);
    const events = await eventsOf(job);
    const suppressed = events.filter(({ type }) => type === "RecipientSuppressed");
    expect(suppressed.map(({ data }) => data)).to.deep.equal([{ run: 1, attempt: 1, recipient: 1, reason: "manual" }]);
    const claimed = events.flatMap((event) => (event.type === "RecipientsClaimed" ? event.data.recipients : []));
    expect(claimed).not.to.include(1);
  });

  it("completes where every recipient is suppressed, as none failed", async () => {
    for (const email of people(3)) await suppress(email);
    writeSide.startWorker(mailServer.url);
    const view = await ended(await writeSide.createJob(people(3)));
    expect(progressOf(view)).to.include({ sent: 0, failed: 0, suppressed: 3 });
    expect(mailServer.connections).to.be.at.most(1);
  });

  it("mails no recipient any more that unsubscribes while it goes on, once what was claimed is through", async () => {
    writeSide.startWorker(mailServer.url);
    mailServer.hold();
    const job = await writeSide.createJob(people(40));
    await eventually(() => expect(mailServer.held).to.have.lengthOf(4));
    const early = mailServer.held.flatMap(({ to }) => to);
    for (const email of people(40)) await suppress(email);
    mailServer.release();
    expect(progressOf(await ended(job))).to.include({ sent: 4, suppressed: 36, pending: 0 });
    expect(mailed()).to.deep.equal([...early].sort());
  });

  it("does not mail a recipient that unsubscribed between the claim and a mail that has to wait", async () => {
    let letGo = (): void => {};
    const pace = ({ setRate }: Pace): void => {
      setRate(0);
      letGo = () => setRate(null);
    };
    writeSide.startWorker(mailServer.url, { pace });
    const job = await writeSide.createJob(people(2));
    await eventually(async () => expect((await eventsOf(job)).map(({ type }) => type)).to.include("RecipientsClaimed"));
    await suppress("person0@example.com");
    letGo();
    expect(progressOf(await ended(job))).to.include({ sent: 1, suppressed: 1 });
    expect(mailed()).to.deep.equal(["person1@example.com"]);
  });

  it("puts an address on the list that does not exist, before the next mailing", async () => {
    mailServer.answerRecipient("person0@example.com", { code: 550, text: "5.1.1 no such user" });
    mailServer.answerRecipient("person1@example.com", { code: 550, text: "5.7.1 not from you" });
    mailServer.answerRecipient("person2@example.com", { code: 552, text: "5.2.2 mailbox full" });
    writeSide.startWorker(mailServer.url);
    await ended(await writeSide.createJob(people(6)));
    const found = await Promise.all(people(6).map((email) => writeSide.suppressions.find("default", email)));
    expect(found.map((one) => one?.reason ?? null)).to.deep.equal(["hard-bounce", null, null, null, null, null]);
    expect(found[0]?.email).to.equal("person0@example.com");
    const again = await ended(await writeSide.createJob(people(6)));
    expect(progressOf(again)).to.include({ sent: 3, failed: 2, suppressed: 1 });
  });

  it("records a refused recipient before the address goes onto the list, and ends only after", async () => {
    mailServer.answerRecipient("person0@example.com", { code: 550, text: "5.1.1 no such user" });
    const { gate, letGo } = closedGate();
    const recorded: string[][] = [];
    const refused = async ({ job }: { readonly job: JobRef }): Promise<void> => {
      recorded.push((await eventsOf(job)).map(({ type }) => type));
      await gate;
    };
    writeSide.startWorker(mailServer.url, { refused });
    const job = await writeSide.createJob(people(1));
    await eventually(() => expect(recorded).to.deep.equal([["RecipientsClaimed", "RecipientFailed"]]));
    expect((await writeSide.readView(job)).status).to.equal("processing");
    letGo();
    await ended(job, "failed");
  });

  it("mails a recipient again that was taken off the list", async () => {
    await suppress("person0@example.com");
    writeSide.startWorker(mailServer.url);
    expect(progressOf(await ended(await writeSide.createJob(people(1))))).to.include({ suppressed: 1 });
    expect(await writeSide.suppressions.remove("default", "PERSON0@example.com", now)).to.equal(true);
    expect(progressOf(await ended(await writeSide.createJob(people(1))))).to.include({ sent: 1 });
  });

  it("still does not mail an erased address", async () => {
    await suppress("person0@example.com");
    await writeSide.suppressions.forgetAddress("default", "person0@example.com");
    writeSide.startWorker(mailServer.url);
    expect(progressOf(await ended(await writeSide.createJob(people(1))))).to.include({ suppressed: 1 });
  });

  it("looks anew when it is retried by hand", async () => {
    for (const name of ["person0", "person1"]) await suppress(`${name}@example.com`);
    for (const name of ["person2", "person3", "person4"]) {
      mailServer.answerRecipient(`${name}@example.com`, { code: 550, text: "5.7.1 not now" });
    }
    writeSide.startWorker(mailServer.url);
    const job = await writeSide.createJob(people(5));
    expect(progressOf(await ended(job, "failed"))).to.include({ suppressed: 2, failed: 3 });
    await writeSide.suppressions.remove("default", "person1@example.com", now);
    for (const email of people(5)) mailServer.answerRecipient(email, null);
    const command = { type: "RetryJob", at: now, scope: "failed", reason: null } as const;
    const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
    await handleCommand(writeSide.log, job, command, cause);
    expect(progressOf(await ended(job))).to.include({ suppressed: 1, sent: 4, failed: 0 });
    expect(mailed()).not.to.include("person0@example.com");
  });

  it("does not say of a mail that a crash left in doubt that it was never sent", async () => {
    const job = await writeSide.createJob(people(2));
    const cause = { actor: "worker:dead", correlationId: null, causationId: null, traceparent: null };
    const { sequence } = (await writeSide.log.readDecisions(job))[0] ?? { sequence: 0 };
    const started = jobStarted({ worker: "dead" });
    await writeSide.log.append(job, [{ ...cause, id: "started", event: started }], sequence);
    const claim = recipientsClaimed({ worker: "dead", recipients: [0] });
    await writeSide.log.record(job, [{ ...cause, id: "claimed", event: claim }]);
    for (const email of people(2)) await suppress(email);
    await writeSide.putTurn(job);
    writeSide.startWorker(mailServer.url);
    expect(progressOf(await ended(job))).to.include({ unknown: 1, suppressed: 1, sent: 0 });
    expect(mailServer.mails).to.deep.equal([]);
  });

  it("does not delay the others of a mailing that goes one by one", async () => {
    for (const email of people(20)) await suppress(email);
    writeSide.startWorker(mailServer.url, { batchDelayMs: 60_000 });
    expect(progressOf(await ended(await writeSide.createJob([...people(20), "ada@example.com"])))).to.include({
      sent: 1,
    });
  });
});
