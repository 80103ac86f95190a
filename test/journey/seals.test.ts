import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Command } from "commander";
import type { CommandContext } from "../../src/cli/command-context.ts";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addSealCommands } from "../../src/cli/seals.ts";
import { addVerifyCommand } from "../../src/cli/verify.ts";
import { bucketOfSeals, createJetStreamSealStore } from "../../src/seals/jetstream-seal-store.ts";
import { newSealKey, toPem } from "../../src/seals/seal-key.ts";
import { inClear } from "../../src/secrets/sealing.ts";
import { readConfig } from "../../src/settings/config.ts";
import { connectTo } from "../support/access.ts";
import { quietProcess } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { mailing } from "../support/running-api.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Surroundings, settingsFor, startWaybill, type Waybill } from "../support/waybill.ts";

/** From the mailing to an auditor with the files, but without the service and its servers. */
describe("An auditor", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let surroundings: Surroundings;
  let folder: string;
  let jobId: string;
  let printed: string[];
  let settings: Readonly<Record<string, string>>;

  before(async () => {
    [nats, database, mailServer, folder] = await Promise.all([
      startNats(),
      freshDatabase(),
      startMailServer(),
      temporaryFolder(),
    ]);
    surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    settings = { SEAL_FILE: join(folder, "seals.ndjson"), SEAL_EVERY_MINUTES: "0.01" };
    waybill = await startWaybill(surroundings, settings);
    mailServer.answerRecipient("nobody@example.com", { code: 550, text: "5.1.1 no such user" });
    const body = JSON.stringify({
      ...mailing,
      recipients: ["ada@example.com", "bob@example.com", "nobody@example.com"],
    });
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${waybill.url}/api/jobs`, { method: "POST", body, headers });
    ({ jobId } = (await answer.json()) as { jobId: string });
    await eventually(async () => expect((await ask(`/api/jobs/${jobId}`))["status"]).to.equal("completed"), 20_000);
  });
  after(async () => {
    await waybill.stop();
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  /** The caller casts the answer, which is this service's own, to what it reads. */
  const ask = async (path: string) => (await fetch(waybill.url + path)).json() as Promise<Record<string, never>>;
  const download = async (name: string): Promise<string> => {
    const response = await fetch(`${waybill.url}/api/jobs/${jobId}/evidence`);
    expect(response.status).to.equal(200);
    expect(response.headers.get("Content-Disposition")).to.equal(`attachment; filename="evidence-${jobId}.ndjson"`);
    const path = join(folder, name);
    await writeFile(path, Buffer.from(await response.arrayBuffer()));
    return path;
  };

  /** A command on this service, or with `{}` one that could reach none. */
  const run = async (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> => {
    printed = [];
    const context: CommandContext = {
      ...quietProcess,
      readConfig: (overrides = {}) => readConfig({ ...env, ...overrides }),
      print: (line) => printed.push(line),
      tell: () => {},
    };
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    addVerifyCommand(program, context);
    addSealCommands(program, context);
    await program.parseAsync(args, { from: "user" });
    return printed.join("\n");
  };
  const here = (): Readonly<Record<string, string>> => ({ ...settingsFor(surroundings), ...settings });
  const offline = { NATS_URL: "127.0.0.1:1" };

  it("finds the log sealed within the time that was set, and the seals where they are published", async () => {
    await eventually(async () => {
      const { data } = (await ask("/api/seals")) as unknown as { data: { to: number }[] };
      const history = (await ask(`/api/jobs/${jobId}/events`)) as unknown as { sequence: number }[];
      // A busy machine may have sealed in the middle of the job.
      expect(data.at(-1)?.to).to.be.at.least(history.at(-1)?.sequence ?? 0);
      const published = (await readFile(settings["SEAL_FILE"] ?? "", "utf8")).trimEnd().split("\n");
      expect(published.map((line) => JSON.parse(line))).to.deep.equal(data);
    });
    const first = (await ask("/api/seals?limit=1")) as unknown as { data: { from: number; keyId: string }[] };
    expect(first.data[0]).to.include({ from: 1 });
    expect(await ask("/api/seals/key")).to.include({ algorithm: "Ed25519", keyId: first.data[0]?.keyId });
    expect(await ask("/readyz")).to.have.nested.property("dependencies.seals.status", "up");
  });

  it("checks the evidence of a job on a machine without any server, and reads in it the mails of each recipient", async () => {
    const bundle = await download("evidence.ndjson");
    const key = join(folder, "key.pem");
    await writeFile(key, await run(here(), "seals", "key"));
    const report = await run(offline, "verify", bundle, "--key", key, "--seals", await publishedUpTo(bundle));
    expect(report).to.match(/ada@example\.com\n.*accepted by the mail server: "250/);
    expect(report).to.match(/nobody@example\.com\n.*refused for good: "550 5\.1\.1/);
    expect(report).to.include("The bundle is whole").and.not.include("not yet");
    const altered = join(folder, "altered.ndjson");
    await writeFile(altered, (await readFile(bundle, "utf8")).replace("5.1.1", "5.1.2"));
    expect((await failureOf(run(offline, "verify", altered))).message).to.equal(
      "The bundle does not prove what it shows.",
    );
    expect(printed.join("\n")).to.include(
      "[FAILED] Each entry stands in the sealed log exactly as it is shown here. Entry",
    );
    const failure = await failureOf(run(offline, "verify", altered, "--json"));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(JSON.parse(printed[0] ?? "")).to.deep.include({ valid: false, tenant: "default", jobId });
  });

  /** The last seal may have been made for the bundle a moment ago. */
  const publishedUpTo = async (bundle: string): Promise<string> => {
    const { seals } = JSON.parse((await readFile(bundle, "utf8")).split("\n")[0] ?? "");
    const path = settings["SEAL_FILE"] ?? "";
    await eventually(async () => expect(await readFile(path, "utf8")).to.include(seals.at(-1).digest));
    return path;
  };

  it("checks the whole log where it is, an export of it where it is not, and the evidence of one job", async () => {
    expect(await run(here(), "verify")).to.include("What is here and was sealed is as it was sealed.");
    expect(JSON.parse(await run(here(), "verify", "--json"))).to.deep.include({
      valid: true,
      reason: null,
      findings: [],
    });
    expect(await run(here(), "verify", "--job", jobId)).to.include("The bundle is whole");
    const path = join(folder, "log.ndjson");
    await run(here(), "log", "export", path);
    expect(await run(offline, "verify", path)).to.include("What is here and was sealed is as it was sealed.");
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace('\\"type\\":\\"RecipientFailed\\"', '\\"type\\":\\"RecipientSent\\"'));
    const failure = await failureOf(run(offline, "verify", path));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.match(/^The log is not what was sealed: \d+ finding/);
    expect(printed.join("\n")).to.match(/\[changed\] Among events \d+ to \d+ something was changed/);
    const lines = text.trimEnd().split("\n");
    await writeFile(path, `${lines.slice(0, -1).join("\n")}\n`);
    expect((await failureOf(run(offline, "verify", path))).message).to.match(/was cut off/);
  });

  it("is warned of a log that was sealed with another key, and of files that are none", async () => {
    const stranger = join(folder, "stranger.pem");
    await writeFile(stranger, toPem(newSealKey()));
    expect(await failureOf(run({ ...here(), SEAL_KEY: stranger }, "verify"))).to.be.instanceOf(CommandFailed);
    expect(printed.join("\n")).to.include("[key]").and.include("none that you trust");
    expect((await failureOf(run(offline, "verify", join(folder, "nothing")))).message).to.include("There is no file");
    const noSeals = join(folder, "no-seals.ndjson");
    for (const text of ["", "nonsense\n"]) {
      await writeFile(noSeals, text);
      const failure = await failureOf(run(here(), "verify", "--seals", noSeals));
      expect(failure).to.be.instanceOf(CommandFailed);
      expect(failure.message).to.include("holds no seal, so nothing can be compared with it");
    }
    for (const wrong of [
      ["verify", "x", "--job", jobId],
      ["verify", "--key", stranger],
      ["verify", "--seals", join(folder, "nothing")],
      ["verify", "--job", "a.b"],
    ]) {
      expect(await failureOf(run(offline, ...wrong)), wrong.join(" ")).to.be.instanceOf(WrongUsage);
    }
  });

  it("is refused what is not there, and what is asked wrongly", async () => {
    expect(await ask("/api/jobs/00000000-0000-4000-8000-000000000000/evidence")).to.include({ code: "job-not-found" });
    expect(await ask("/api/seals?limit=0&page=2")).to.include({ code: "validation-failed" });
  });

  it("is shown no tenant's events by another kind of event: the feed holds none of the seals", async () => {
    const { data } = (await ask("/api/events?limit=1000")) as unknown as { data: { type: string; jobId: string }[] };
    expect(new Set(data.map((event) => event.jobId))).to.deep.equal(new Set([jobId]));
  });

  it("still trusts what was sealed before the key was changed", async () => {
    const before = await run(here(), "seals", "key");
    const after = await run(here(), "seals", "rotate");
    expect(after).not.to.equal(before);
    const old = join(folder, "old.pem");
    await writeFile(old, before);
    // Nothing is sealed with the new key yet, and the log could be anyone's.
    expect(await failureOf(run(here(), "verify"))).to.be.instanceOf(CommandFailed);
    expect(printed.join("\n")).to.include("[key]");
    expect(await run(here(), "verify", "--key", old)).to.include("was sealed is as it was sealed");
    await waybill.stop();
    waybill = await startWaybill(surroundings, settings);
    await fetch(`${waybill.url}/api/jobs`, {
      method: "POST",
      body: JSON.stringify(mailing),
      headers: { "Content-Type": "application/json" },
    });
    await eventually(async () => {
      const { keyIds, valid } = JSON.parse(await run(here(), "verify", "--json"));
      expect({ keys: keyIds.length, valid }).to.deep.equal({ keys: 2, valid: true });
    }, 20_000);
    expect(await failureOf(run(here(), "verify", "--key", old))).to.be.instanceOf(CommandFailed);
    expect(printed.join("\n")).to.include("[key]");
  });

  it("finds that the log was replaced as soon as the service starts, and until an operator has accepted it", async () => {
    await waybill.stop();
    const connection = await connectTo(nats);
    await (await connection.nats.jetstreamManager()).streams.delete(`${nats.prefix}_JOBS`);
    const store = await createJetStreamSealStore(
      connection,
      { prefix: nats.prefix, replicas: 1 },
      inClear(bucketOfSeals),
    );
    await store.publishedUpTo("webhook", 1_000_000);
    const { SEAL_FILE: _, ...others } = settings;
    waybill = await startWaybill(surroundings, others);
    await eventually(async () => {
      const { dependencies } = (await ask("/readyz")) as unknown as { dependencies: Record<string, unknown> };
      expect(dependencies["seals"]).to.include({ status: "down", reason: "log-rolled-back" });
    });
    expect(await run({ ...settingsFor(surroundings), ...others }, "seals", "accept")).to.match(
      /^The seal at \d+ is forgotten/,
    );
    // Else the webhook would get no seal before the new log is as long as the old one was.
    expect(await store.published("webhook")).to.equal(0);
    await connection.close();
    await waybill.stop();
    waybill = await startWaybill(surroundings, others);
    await eventually(async () => {
      const { dependencies } = (await ask("/readyz")) as unknown as { dependencies: Record<string, unknown> };
      expect(dependencies["seals"]).to.include({ status: "up" });
    });
  });
});
