import { expect } from "chai";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addEventsCommand } from "../../src/cli/events.ts";
import { addJobsCommands } from "../../src/cli/jobs.ts";
import { addReplayCommand } from "../../src/cli/replay.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { createCommandLine } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const commands = [addJobsCommands, addEventsCommand, addReplayCommand];
const mailing = {
  subject: "Your invoice",
  body: "It is attached.",
  recipients: ["ada@example.com", "bob@example.com"],
};
const nobody = "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f";

describe("The commands that ask a running service", () => {
  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let service: Waybill;
  let client: ApiClient;
  let completed: string;
  let failed: string;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    service = await startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url });
    client = createApiClient(service.url);
    mailServer.answerRecipient("full@example.com", { code: 552, text: "5.2.2 Mailbox full" });
    completed = await client.create(mailing);
    await client.ended(completed);
    failed = await client.create({ ...mailing, subject: "It fails", recipients: ["full@example.com"] });
    await client.ended(failed);
  });
  after(async () => {
    await service?.stop();
    await mailServer?.stop();
    await database?.drop();
    await nats?.cleanUp();
  });

  const run = (...args: readonly string[]) => createCommandLine(commands, { WAYBILL_URL: service.url }).run(...args);
  const lines = async (...args: readonly string[]) => (await run(...args)).printed;
  const json = async (...args: readonly string[]) => JSON.parse((await lines(...args, "--json")).join("\n"));
  const scheduled = (): Promise<string> => client.create({ ...mailing, scheduledAt: "2099-01-01T00:00:00Z" });

  it("list jobs as a table for people, and as JSON", async () => {
    const [head, ...rows] = await lines("jobs", "list");
    expect(head).to.match(/^id +status +sent +failed +total +createdAt +subject$/);
    expect(rows.find((row) => row.startsWith(completed))).to.match(/ completed +2 +0 +2 .* Your invoice$/);
    await eventually(async () => {
      const listed = await json("jobs", "list", "--status", "failed");
      expect(listed.map(({ id }: { id: string }) => id)).to.include(failed);
    });
  });

  it("list as many as are asked for, over the pages of the API", async () => {
    expect(await json("jobs", "list", "--limit", "1")).to.have.lengthOf(1);
    expect(await json("jobs", "list", "--limit", "150")).to.have.lengthOf.at.least(2);
    expect(await failureOf(run("jobs", "list", "--limit", "0"))).to.be.instanceOf(WrongUsage);
  });

  it("show a job, and as it was", async () => {
    expect((await lines("jobs", "show", completed)).join("\n")).to.match(/completed +attempt 1\n.*2 sent, 0 failed/s);
    const [created] = (await client.get(`/api/jobs/${completed}/events`)).body as [{ sequence: number }];
    const then = await json("jobs", "show", completed, "--as-of", String(created.sequence));
    expect(then).to.deep.include({ id: completed, status: "queued", completedAt: null });
  });

  it("print what happened to each recipient", async () => {
    const [first, second, ...more] = await lines("jobs", "logs", completed);
    expect(first).to.match(/success +1\.1 +ada@example\.com +250 /);
    expect(second).to.match(/success +1\.1 +bob@example\.com +250 /);
    expect(more).to.deep.equal([]);
    expect(await lines("jobs", "logs", failed, "--status", "success")).to.deep.equal([]);
    expect((await lines("jobs", "logs", failed)).join("")).to.match(/failed .*552 5\.2\.2/);
  });

  it("print how each recipient stands, once", async () => {
    const [first, second, ...more] = await lines("jobs", "recipients", completed);
    expect(first).to.match(/^sent +1 +ada@example\.com +250 /);
    expect(second).to.match(/^sent +1 +bob@example\.com +250 /);
    expect(more).to.deep.equal([]);
    expect(await lines("jobs", "recipients", completed, "--status", "failed,unknown")).to.deep.equal([]);
    expect((await lines("jobs", "recipients", failed, "--status", "failed")).join("")).to.match(
      /^failed .*552 5\.2\.2/,
    );
    expect(await failureOf(run("jobs", "recipients", failed, "--status", "bogus"))).to.be.instanceOf(WrongUsage);
  });

  it("watch a job until it has ended, also one that had ended before", async () => {
    mailServer.hold();
    const watched = await client.create(mailing);
    const watching = lines("jobs", "watch", watched, "--json");
    mailServer.release();
    const states = (await watching).map((line) => JSON.parse(line).status);
    expect(states.at(-1)).to.equal("completed");
    expect((await lines("jobs", "watch", completed)).join("\n")).to.include("completed");
    const failure = await failureOf(run("jobs", "watch", failed));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.equal(
      `The job is failed.\nNot reached: waybill jobs recipients ${failed} --status failed\nRetry those: waybill jobs retry ${failed}`,
    );
  });

  it("pause, resume and cancel with a reason", async () => {
    const id = await scheduled();
    expect(await json("jobs", "pause", id, "--reason", "a typo")).to.include({ status: "paused" });
    expect(await json("jobs", "resume", id)).to.include({ status: "scheduled" });
    expect(await json("jobs", "cancel", id, "--reason", "not this year")).to.include({ status: "cancelled" });
    const failure = await failureOf(run("jobs", "cancel", id));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.include("cancelled");
  });

  it("retry what failed", async () => {
    mailServer.answerRecipient("later@example.com", { code: 550, text: "5.7.1 Not today" });
    const id = await client.create({ ...mailing, recipients: ["later@example.com", "full@example.com"] });
    expect((await client.ended(id)).status).to.equal("failed");
    mailServer.answerRecipient("later@example.com", null);
    await run("jobs", "retry", id, "--reason", "they said tomorrow");
    expect((await client.ended(id)).progress).to.include({ sent: 1, failed: 1 });
    expect((await failureOf(run("jobs", "retry", completed))).message).to.include("completed");
  });

  it("print the log as lines of JSON, from a place on, of some types, or of one job", async () => {
    const all = (await lines("events")).map((line) => JSON.parse(line));
    const feed = (await client.get("/api/events?limit=1000")).body as { data: unknown[] };
    expect(all).to.deep.equal(feed.data);
    const created = (await lines("events", "--types", "JobCreated")).map((line) => JSON.parse(line).type);
    expect(new Set(created)).to.deep.equal(new Set(["JobCreated"]));
    const after = (await lines("events", "--after", String(all[2].sequence))).map((line) => JSON.parse(line));
    expect(after).to.deep.equal(all.slice(3));
    const ofJob = (await lines("events", "--job", completed)).map((line) => JSON.parse(line));
    expect(ofJob).to.deep.equal((await client.get(`/api/jobs/${completed}/events`)).body);
    expect(await failureOf(run("events", "--job", completed, "--follow"))).to.be.instanceOf(WrongUsage);
  });

  it("follow the log until they are interrupted", async () => {
    const stopping = new AbortController();
    const following = createCommandLine(commands, { WAYBILL_URL: service.url }, { interrupted: stopping.signal });
    const done = following.run("events", "--follow", "--types", "JobCancelled");
    const id = await scheduled();
    await client.delete(`/api/jobs/${id}`);
    await eventually(() => expect(following.last().printed.join("\n")).to.include(id));
    stopping.abort();
    await done;
  });

  it("replay a history step by step to what the service says", async () => {
    const steps = (await lines("replay", "--job", completed, "--json")).map((line) => JSON.parse(line));
    const { status, progress } = (await client.get(`/api/jobs/${completed}`)).body as {
      status: string;
      progress: object;
    };
    expect(steps.at(-1)).to.deep.include({ type: "JobCompleted", status, progress });
    expect(steps[0]).to.include({ type: "JobCreated", status: "queued" });
    const asOf = await lines("replay", "--job", completed, "--as-of", String(steps[1].sequence));
    // The job was started and its recipients were claimed in one entry.
    expect(asOf).to.have.lengthOf(3);
    expect(await failureOf(run("replay", "--job", completed, "--as-of", "soon"))).to.be.instanceOf(WrongUsage);
    expect(await failureOf(run("replay", "--job", completed, "--as-of", "0"))).to.be.instanceOf(CommandFailed);
  });

  it("report a missing job, and a service that does not answer", async () => {
    for (const args of [
      ["show", nobody],
      ["cancel", nobody],
      ["watch", nobody],
      ["logs", "../admin"],
    ]) {
      expect(await failureOf(run("jobs", ...args)), args.join(" ")).to.be.instanceOf(CommandFailed);
    }
    const nowhere = createCommandLine(commands, { WAYBILL_URL: "http://127.0.0.1:1" });
    const failure = await failureOf(nowhere.run("jobs", "list"));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.include("http://127.0.0.1:1").and.include("WAYBILL_URL");
  });
});
