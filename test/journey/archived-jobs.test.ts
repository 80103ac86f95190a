import { createHash } from "node:crypto";
import { cp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { createJetStreamArchiveIndex } from "../../src/archive/jetstream-archive-index.ts";
import { onArchiveFile } from "../../src/archive/read-archive-file.ts";
import { addArchiveCommand } from "../../src/cli/archive.ts";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addDoctorCommand } from "../../src/cli/doctor.ts";
import { addPassCommands } from "../../src/cli/log-pass.ts";
import { addRebuildCommand } from "../../src/cli/rebuild.ts";
import { addVerifyCommand } from "../../src/cli/verify.ts";
import { CannotStart } from "../../src/process/lifecycle.ts";
import { allPassed, trustNothing } from "../../src/seals/check.ts";
import { verifyEvidence } from "../../src/seals/verify-evidence.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { createCommandLine } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { openJetStreamLog } from "../support/jetstream-log.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { settingsFor, startWaybill, type Waybill } from "../support/waybill.ts";

const keys = ["january", "february", "march", "april"];

/** Four mailings that were archived, and one that was not. */
describe("Jobs of ten years ago", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let service: Waybill;
  let client: ApiClient;
  let directory: string;
  const jobs = new Map<string, string>();
  const histories = new Map<string, unknown>();

  const surroundings = () => ({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url });
  const env = { SEAL_EVERY_MINUTES: "0.01", SEAL_EVERY_EVENTS: "5", ARCHIVE_AFTER_HOURS: "0" };
  const start = async (more: Readonly<Record<string, string>>, mysqlUrl = database.url): Promise<void> => {
    await service?.stop();
    service = await startWaybill({ ...surroundings(), mysqlUrl }, { ...env, ...more });
    client = createApiClient(service.url);
  };
  const commandLine = (more: Readonly<Record<string, string>>) =>
    createCommandLine([addArchiveCommand, addDoctorCommand, addVerifyCommand, addRebuildCommand, addPassCommands], {
      ...settingsFor(surroundings()),
      ...env,
      ...more,
    });
  const run = (more: Readonly<Record<string, string>>, ...args: readonly string[]) => commandLine(more).run(...args);
  type Asked = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };
  const askOnce = async (key: string): Promise<Asked> => {
    const response = await fetch(`${service.url}/api/jobs`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": key },
      body: JSON.stringify({ subject: "Your invoice", body: "Hello", recipients: [`${key}@example.com`] }),
    });
    return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
  };
  /** Again while the service says so: on a busy machine it may not hear from NATS in time. */
  const ask = (key: string): Promise<Asked> =>
    eventually(async () => {
      const asked = await askOnce(key);
      expect(asked.status).not.to.equal(503);
      return asked;
    });
  const mailed = (key: string): number => mailServer.mails.filter(({ to }) => to.includes(`${key}@example.com`)).length;
  const isMailed = async (key: string): Promise<string> => {
    const { status, body } = await ask(key);
    expect(status, JSON.stringify(body)).to.equal(201);
    await client.ended(String(body["jobId"]));
    return String(body["jobId"]);
  };

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    directory = await temporaryFolder();
    await start({ ARCHIVE_DIR: directory });
    for (const key of keys) jobs.set(key, await isMailed(key));
    for (const [key, jobId] of jobs) histories.set(key, (await client.get(`/api/jobs/${jobId}/events`)).body);
    await eventually(async () => {
      await run({}, "archive", "--before", new Date().toISOString(), "--to", directory);
      for (const key of keys) await isCut(key);
    }, 30_000);
    jobs.set("recent", await isMailed("recent"));
  });
  after(async () => {
    await service.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  const isCut = async (key: string): Promise<void> => {
    const { log, close } = await openJetStreamLog(nats.config, nats.prefix);
    try {
      expect(await log.lastDecision({ tenant: "default", jobId: jobs.get(key) ?? "" }), key).to.equal(0);
    } finally {
      await close();
    }
  };

  it("show their history and their evidence, from the files", async () => {
    for (const key of keys) {
      const { status, body } = await client.get(`/api/jobs/${jobs.get(key)}/events`);
      expect({ status, body }).to.deep.equal({ status: 200, body: histories.get(key) });
      const bundle = await fetch(`${service.url}/api/jobs/${jobs.get(key)}/evidence`);
      expect(bundle.status).to.equal(200);
      const { checks } = verifyEvidence(Buffer.from(await bundle.arrayBuffer()), trustNothing);
      expect(allPassed(checks)).to.equal(true);
    }
  });

  it("are the answer to their idempotency keys, and are not mailed again", async () => {
    for (const key of keys) {
      const { status, body } = await ask(key);
      expect(status, JSON.stringify(body)).to.equal(201);
      expect(body["jobId"]).to.equal(jobs.get(key));
    }
    await isMailed("march-2036");
    expect(keys.map(mailed)).to.deep.equal([1, 1, 1, 1]);
  });

  it("are checked with the log, as one, and a file that is away is named", async () => {
    expect((await run({ ARCHIVE_DIR: directory }, "verify")).printed.join()).to.include(
      "was sealed is as it was sealed",
    );
    const names = (await readdir(directory)).sort();
    for (const options of [[], ["--archive", `${directory}-away`]]) {
      const line = commandLine({});
      const failure = await failureOf(line.run("verify", ...options));
      expect(failure).to.be.instanceOf(CommandFailed);
      expect(failure.message).to.include("not at hand, or not as the log recorded them");
      const named = line.last().printed.map((text) => /^\[archive\] (\S+): /.exec(text)?.[1]);
      expect(named).to.deep.equal(names);
    }
  });

  it("are sealed by what an older file of seals remembers, and doctor finds that in the archive", async () => {
    const { data } = (await client.get("/api/seals?limit=1")).body as unknown as { data: object[] };
    const older = join(await temporaryFolder(), "seals.ndjson");
    await writeFile(older, `${JSON.stringify(data[0])}\n`);
    const line = commandLine({ ARCHIVE_DIR: directory, SEAL_FILE: older });
    await line.run("doctor", "--json").catch(() => {});
    expect(line.last().printed.join())
      .to.include("The log holds the last seal that was seen in it")
      .and.not.include("is not the one that was sealed");
  });

  it("are in read models that are made anew, but not without the files", async () => {
    const failure = await failureOf(run({}, "rebuild", "jobs"));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(String(failure)).to.match(/log-\d{12}-\d{12}\.waybill/);
    await run({ ARCHIVE_DIR: directory }, "rebuild");
    await run({ ARCHIVE_DIR: directory }, "rebuild", "--check");
  });

  it("younger than a day are left where they are", async () => {
    const young = run(
      { ARCHIVE_AFTER_HOURS: "24" },
      "archive",
      "--before",
      new Date().toISOString(),
      "--to",
      directory,
    );
    expect(await failureOf(young)).to.be.instanceOf(WrongUsage);
    expect(await failureOf(run({}, "archive", "--before", "2020-01-01"))).to.be.instanceOf(WrongUsage);
  });

  it("are shown as they are stored, from the file", async () => {
    const [first = ""] = (await readdir(directory)).sort();
    const { printed } = await run({}, "show", "1", "--archive", directory);
    expect(printed[0]).to.equal("sequence  1");
    expect(printed).to.include(`archived  in ${first}`).and.include("decodes   yes: nothing stops at it");
    expect(await failureOf(run({}, "show", "1"))).to.match(
      new RegExp(`in the file ${first}, .*ARCHIVE_DIR is not set`),
    );
  });

  describe("with a file that", () => {
    let copy: string;
    let first: string;
    before(async () => {
      copy = await temporaryFolder();
      [first = ""] = (await readdir(directory)).sort();
      await start({ ARCHIVE_DIR: copy });
    });

    for (const [what, harm, words] of [
      ["is missing", (path: string) => rm(path), "there is no such file"],
      ["is too short", (path: string) => truncate(path, 700), "it was cut off"],
      ["was changed", flipByte, "it was changed"],
    ] as const) {
      it(`${what}, are refused with its name by the API and by every command`, async () => {
        await cp(directory, copy, { recursive: true });
        const january = `/api/jobs/${jobs.get("january")}`;
        expect((await client.get(`${january}/events`)).status).to.equal(200);
        await harm(join(copy, first));
        const { status, body } = await client.get(`${january}/events`);
        expect(status).to.equal(410);
        expect(body).to.deep.include({ code: "archived", file: first });
        expect((body as { detail: string }).detail).to.include(words);
        expect((await client.get(`${january}/evidence`)).status).to.equal(410);
        const line = commandLine({ ARCHIVE_DIR: copy });
        expect(await failureOf(line.run("verify"))).to.be.instanceOf(CommandFailed);
        expect(line.last().printed).to.have.length(1);
        expect(line.last().printed[0]).to.include(`[archive] ${first}: ${words}`);
        for (const command of [
          ["verify", "--job", jobs.get("january") ?? ""],
          ["rebuild", "jobs"],
          ["show", "1"],
        ]) {
          const failure = await failureOf(line.run(...command));
          expect(failure, command.join(" ")).to.be.instanceOf(CommandFailed);
          expect(String(failure)).to.include(first).and.include(words);
        }
      });
    }
  });

  it("are not believed to a file whose index hides them, though the list of files was changed with it", async () => {
    const copy = await temporaryFolder();
    await cp(directory, copy, { recursive: true });
    const { connection, close } = await openJetStreamLog(nats.config, nats.prefix);
    const index = createJetStreamArchiveIndex(connection, { prefix: nats.prefix, replicas: 1 });
    const [first] = await index.files();
    if (first === undefined) throw new Error("Nothing was archived.");
    try {
      const path = join(copy, first.file);
      const offset = await onArchiveFile(path, async ({ description }) => description.index.offset);
      await flipByte(path, offset);
      const sha256 = createHash("sha256")
        .update(await readFile(path))
        .digest("hex");
      await index.addFiles([{ ...first, sha256 }]);
      const line = commandLine({ ARCHIVE_DIR: copy });
      expect(await failureOf(line.run("verify"))).to.be.instanceOf(CommandFailed);
      expect(line.last().printed.join("\n")).to.include(`[archive] The log does not record ${first.file} as`);
    } finally {
      await index.addFiles([first]);
      await close();
    }
    await run({ ARCHIVE_DIR: directory }, "verify");
  });

  it("are missed in the index, though it has as many entries as ever", async () => {
    const { connection, close } = await openJetStreamLog(nats.config, nats.prefix);
    const bucket = await connection.nats.jetstream().views.kv(`${nats.prefix}_ARCHIVE`);
    let entry = "";
    for await (const key of await bucket.keys("jobs.*")) entry = key;
    const before = await bucket.get(entry);
    try {
      await bucket.put(entry, "");
      const line = commandLine({ ARCHIVE_DIR: directory });
      expect(await failureOf(line.run("verify"))).to.be.instanceOf(CommandFailed);
      expect(line.last().printed.join("\n")).to.match(/\[archive\] The index of archived jobs .* lacks [1-9]/);
    } finally {
      await bucket.put(entry, before?.value ?? "");
      await close();
    }
    await run({ ARCHIVE_DIR: directory }, "verify");
  });

  describe("in a service without the files and without a database", () => {
    before(() => start({ ROLES: "api", AUTO_MIGRATE: "false" }, "mysql://root@127.0.0.1:1/nowhere"));

    it("are named with their file instead of their history", async () => {
      const { status, body } = await client.get(`/api/jobs/${jobs.get("january")}/events`);
      expect(status).to.equal(410);
      expect(body).to.deep.include({ code: "archived" });
      expect((body as { file: string }).file).to.match(/^log-\d{12}-\d{12}\.waybill$/);
      expect((await client.get(`/api/jobs/${jobs.get("recent")}/events`)).status).to.equal(200);
    });

    it("keep their idempotency keys, and are not mailed again", async () => {
      for (const key of keys) {
        const { status, body } = await ask(key);
        expect(status, JSON.stringify(body)).to.equal(410);
        expect(body).to.include({ code: "archived" });
      }
      expect((await ask("a-new-one")).status).to.equal(201);
      expect((await ask("recent")).body).to.deep.include({ jobId: jobs.get("recent") });
      expect(keys.map(mailed)).to.deep.equal([1, 1, 1, 1]);
    });
  });

  describe("whose index was lost", () => {
    before(async () => {
      const { connection, close } = await openJetStreamLog(nats.config, nats.prefix);
      try {
        await (await connection.nats.jetstreamManager()).streams.delete(`KV_${nats.prefix}_ARCHIVE`);
      } finally {
        await close();
      }
    });

    it("are not mailed again by a service that runs, nor by one that starts", async () => {
      expect((await askOnce("january")).status).to.equal(503);
      await service.stop();
      const failure = await failureOf(startWaybill({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url }, env));
      expect(failure).to.be.instanceOf(CannotStart);
      expect(failure.message)
        .to.match(/index of archived jobs .* ends at 0/)
        .and.include("waybill archive --before");
      expect(String(await failureOf(run({ ARCHIVE_DIR: directory }, "verify")))).to.include("index of archived jobs");
      expect(keys.map(mailed)).to.deep.equal([1, 1, 1, 1]);
    });

    it("keep their keys once it is made again as the refused start says", async () => {
      const { printed } = await run({}, "archive", "--before", "1970-01-01", "--to", directory);
      expect(printed[0]).to.include("It was made again from the files.");
      await start({ ARCHIVE_DIR: directory });
      for (const key of keys) expect((await ask(key)).body["jobId"]).to.equal(jobs.get(key));
      expect(keys.map(mailed)).to.deep.equal([1, 1, 1, 1]);
    });
  });
});

/** One byte, in the middle of a block where no place is given. */
async function flipByte(path: string, place = 60): Promise<void> {
  const bytes = await readFile(path);
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  await writeFile(path, bytes);
}
