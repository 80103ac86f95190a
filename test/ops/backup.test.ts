import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { CommandFailed } from "../../src/cli/command-failed.ts";
import { createDatabase } from "../../src/database/database.ts";
import { connectTo } from "../support/access.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import {
  archiveIn,
  type CopiedNats,
  type Picture,
  pictureOf,
  type RunningOn,
  startCopiedNats,
  startOn,
} from "./backed-up-service.ts";
import { backUpStream, restoreStream, streamNames } from "./stream-snapshots.ts";

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

/** ops/guides/operator.md, "Back up and restore": what it promises, on real servers that are really thrown away. */
describe("A backup of the log", function () {
  this.timeout(240_000);

  let mailServer: TestMailServer;
  let folder: string;
  let sealFile: string;
  let nats: CopiedNats;
  let mysqlUrl: string;
  let service: RunningOn;
  const jobs = { completed: "", failed: "", scheduled: "", later: "" };

  const recipientsOfMails = (): readonly string[] => mailServer.mails.flatMap(({ to }) => to);
  const messageIdsTo = (address: string): readonly (string | null)[] =>
    mailServer.mails.filter(({ to }) => to.includes(address)).map(({ messageId }) => messageId);
  const mailing = (recipients: readonly string[], more: object = {}) => ({
    subject: "Your invoice",
    body: "<p>It is attached.</p>",
    recipients,
    attachments: [{ filename: "invoice.txt", contentType: "text/plain", content: "MTcgRVVSCg==" }],
    ...more,
  });
  const here = () => ({ nats, mysqlUrl, mailServer, sealFile });
  const emptyDatabase = async (): Promise<string> => (await freshDatabase()).url;
  /** Everything that the log holds is in the rows, and sealed and published. */
  const settled = () =>
    eventually(async () => {
      const { body } = await service.client.get("/api/stats");
      const { projections } = body as {
        readonly projections: Readonly<Record<string, { readonly lagEvents: number }>>;
      };
      const behind = Object.entries(projections).filter(([, { lagEvents }]) => lagEvents !== 0);
      expect(behind).to.deep.equal([]);
      const { to } = JSON.parse((await readFile(sealFile, "utf8")).trimEnd().split("\n").at(-1) ?? "");
      const { lastSequence } = (await service.health())["nats"] ?? {};
      expect(to).to.equal(Number(lastSequence) - 1);
    }, 20_000);

  beforeEach(async () => {
    [mailServer, folder] = await Promise.all([startMailServer(), temporaryFolder()]);
    sealFile = join(folder, "seals.ndjson");
    nats = await startCopiedNats();
    mysqlUrl = await emptyDatabase();
    service = await startOn(here());
    const { client } = service;
    mailServer.answerRecipient("nobody@example.com", { code: 550, text: "5.7.1 not welcome" });
    expect((await client.post("/api/suppressions", { email: "eve@example.com" })).status).to.equal(201);
    jobs.completed = await client.create(mailing(["ada@example.com", "bob@example.com", "eve@example.com"]));
    jobs.failed = await client.create(mailing(["nobody@example.com"]));
    jobs.scheduled = await client.create(mailing(["cyd@example.com", "dan@example.com"], { scheduledAt: inAnHour() }));
    jobs.later = await client.create(mailing(["fay@example.com"], { scheduledAt: inAnHour() }));
    expect(await client.ended(jobs.completed)).to.include({ status: "completed" });
    expect(await client.ended(jobs.failed)).to.include({ status: "failed" });
    // The jobs that were created last may come into the list after the first ones have ended.
    await eventually(async () => {
      const { data } = (await client.get("/api/jobs")).body as { readonly data: readonly object[] };
      expect(data).to.have.lengthOf(Object.keys(jobs).length);
    });
    // Another read model than the jobs': what is compared later has to have it.
    await eventually(async () => {
      const { data } = (await client.get("/api/dead-letters")).body as { readonly data: readonly object[] };
      expect(data).to.have.lengthOf(1);
    });
    await settled();
  });
  afterEach(async () => {
    await service?.stop();
    await nats?.destroy();
    await mailServer?.stop();
  });

  const loseEverything = async (): Promise<void> => {
    await service.stop();
    await nats.destroy();
  };
  /** On a server elsewhere, with nothing in its database. */
  const startRestored = async (archive: string): Promise<void> => {
    nats = await startCopiedNats(archive);
    mysqlUrl = await emptyDatabase();
    service = await startOn(here());
  };
  const isAsItWas = async (before: Picture): Promise<void> => {
    await eventually(async () => {
      const after = await pictureOf(service, Object.values(jobs));
      // One by one, so that a failure shows which answer is another one.
      for (const [path, body] of Object.entries(before)) expect(after[path], path).to.deep.equal(body);
    }, 60_000);
    const { printed } = await service.commands.run("rebuild", "--check");
    expect(printed.every((line) => /matches the log/.test(line))).to.equal(true);
    const key = join(folder, "key.pem");
    await writeFile(key, (await service.commands.run("seals", "key")).printed.join("\n"));
    const verified = await service.commands.run("verify", "--key", key, "--seals", sealFile);
    expect(verified.printed.join("\n")).to.include("What is here and was sealed is as it was sealed.");
    const evidence = await service.commands.run("verify", "--job", jobs.completed, "--key", key);
    expect(evidence.printed.join("\n")).to.include("The bundle is whole");
    expect((await service.health())["seals"]).to.include({ status: "up" });
  };
  const mailsWhatWaitedOnce = async (): Promise<void> => {
    expect(recipientsOfMails()).to.have.members(["ada@example.com", "bob@example.com"]);
    await service.startNow(jobs.scheduled);
    expect(await service.client.ended(jobs.scheduled)).to.deep.include({ status: "completed" });
    const next = await service.client.create(mailing(["gus@example.com", "eve@example.com"]));
    expect(await service.client.ended(next)).to.have.nested.property("progress.suppressed", 1);
    const all = ["ada", "bob", "cyd", "dan", "gus"].map((name) => `${name}@example.com`);
    expect(recipientsOfMails()).to.have.members(all);
  };

  it("made with NATS stopped brings everything back, and mails only the recipients that it still owes a mail", async () => {
    const before = await pictureOf(service, Object.values(jobs));
    await service.stop();
    await nats.stop();
    const archive = archiveIn(folder, "stopped");
    await nats.copyStopped(archive);
    await nats.destroy();
    await startRestored(archive);
    await isAsItWas(before);
    await mailsWhatWaitedOnce();
  });

  it("made of a volume while NATS runs does so too", async () => {
    const before = await pictureOf(service, Object.values(jobs));
    const archive = archiveIn(folder, "running");
    await nats.copyWhileRunning(archive);
    await loseEverything();
    await startRestored(archive);
    await isAsItWas(before);
    await mailsWhatWaitedOnce();
  });

  it("made stream by stream while the service runs, the log first, does so too", async () => {
    const before = await pictureOf(service, Object.values(jobs));
    const old = await connectTo(nats);
    const others = (await streamNames(old.nats)).filter((name) => name !== "JOBS");
    const snapshots = [];
    for (const name of ["JOBS", ...others]) snapshots.push(await backUpStream(old.nats, name));
    await old.close();
    await loseEverything();
    nats = await startCopiedNats();
    const empty = await connectTo(nats);
    for (const snapshot of snapshots) await restoreStream(empty.nats, snapshot);
    expect(await streamNames(empty.nats)).to.have.members(["JOBS", ...others]);
    await empty.close();
    mysqlUrl = await emptyDatabase();
    service = await startOn(here());
    await isAsItWas(before);
    await mailsWhatWaitedOnce();
  });

  it("that is older than the last mails is found out, and repeats those that are not cancelled, as the same mail", async () => {
    const archive = archiveIn(folder, "older");
    await nats.copyWhileRunning(archive);
    const lost = await service.client.create(mailing(["gus@example.com"]));
    await service.startNow(jobs.scheduled);
    await service.startNow(jobs.later);
    for (const jobId of [lost, jobs.scheduled, jobs.later]) await service.client.ended(jobId);
    await settled();
    await loseEverything();
    nats = await startCopiedNats(archive);

    // The database is the one from before: its rows are ahead of the log.
    service = await startOn(here(), "api,projector");
    expect(await failureOf(service.commands.run("doctor"))).to.be.instanceOf(CommandFailed);
    expect(service.commands.last().printed.join("\n")).to.match(
      /SERIOUS +nats +.* the database remembers a seal at \d+, /,
    );
    const statuses = async () => (await service.commands.run("rebuild", "--status")).printed.slice(1);
    // An end of the log before the checkpoint is doubted for half a minute.
    await eventually(
      async () => expect((await statuses()).every((line) => /^\S+ +stopped /.test(line))).to.equal(true),
      60_000,
    );
    await service.commands.run("rebuild");
    await eventually(async () => expect((await statuses()).every((line) => /^\S+ +live /.test(line))).to.equal(true));
    expect((await service.client.get(`/api/jobs/${lost}`)).status).to.equal(404);
    expect((await service.client.delete(`/api/jobs/${jobs.scheduled}`)).status).to.equal(200);
    await service.stop();

    service = await startOn(here());
    await eventually(async () => {
      expect((await service.health())["seals"]).to.include({ status: "down", reason: "log-rolled-back" });
    });
    expect(await failureOf(service.commands.run("verify", "--seals", sealFile))).to.be.instanceOf(CommandFailed);
    await service.startNow(jobs.later);
    await service.client.ended(jobs.later);
    expect(messageIdsTo("cyd@example.com")).to.have.length(1);
    expect(messageIdsTo("fay@example.com")).to.have.length(2);
    expect(new Set(messageIdsTo("fay@example.com"))).to.have.property("size", 1);
    await service.stop();

    const { printed } = await service.commands.run("seals", "accept");
    expect(printed[0]).to.match(/^The seal at \d+ is forgotten\. The last seal of the log, at \d+, replaces it\.$/);
    sealFile = join(folder, "seals-after-the-restore.ndjson");
    service = await startOn(here());
    await eventually(async () => expect((await service.health())["seals"]).to.include({ status: "up" }));
    expect((await service.commands.run("doctor")).printed.join("\n")).to.match(
      /^ok +nats +The log holds the last seal/m,
    );
  });

  it("that is older than rows of the outbox gets the jobs back that are missing, and mails nobody for the others", async () => {
    const db = createDatabase(mysqlUrl);
    const insert = async (email: string): Promise<string> => {
      const id = randomUUID();
      await db("outbox").insert({ id, request: JSON.stringify(mailing([email])) });
      const jobId = await jobOf(id);
      await service.client.ended(jobId);
      return jobId;
    };
    const jobOf = (id: string) =>
      eventually(async () => {
        const row = await db("outbox").where({ id }).first("status", "response");
        expect(row).to.include({ status: "processed" });
        const { jobId } = typeof row.response === "string" ? JSON.parse(row.response) : row.response;
        return String(jobId);
      });
    const known = await insert("cyd@example.com");
    const archive = archiveIn(folder, "before-the-row");
    await nats.copyWhileRunning(archive);
    const missing = await insert("dan@example.com");
    await settled();
    await loseEverything();
    nats = await startCopiedNats(archive);
    service = await startOn(here(), "api,projector");
    await service.commands.run("rebuild");
    expect((await service.client.get(`/api/jobs/${missing}`)).status).to.equal(404);
    await service.stop();
    await service.commands.run("seals", "accept");
    sealFile = join(folder, "seals-after-the-restore.ndjson");
    await db("outbox").update({ status: "pending", attempts: 0, next_retry_at: null, response: null });
    service = await startOn(here());
    await eventually(async () => expect(await db("outbox").where({ status: "processed" })).to.have.length(2), 20_000);
    await db.destroy();
    for (const jobId of [known, missing]) {
      expect(await service.client.ended(jobId)).to.have.nested.property("progress.sent", 1);
    }
    expect(messageIdsTo("cyd@example.com")).to.have.length(1);
    expect(messageIdsTo("dan@example.com")).to.have.length(2);
    expect(new Set(messageIdsTo("dan@example.com"))).to.have.property("size", 1);
  });
});
