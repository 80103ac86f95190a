import { expect } from "chai";
import { allProjectors } from "../../projections/all-projectors.ts";
import { addRebuildCommand } from "../../src/cli/rebuild.ts";
import { addSealCommands } from "../../src/cli/seals.ts";
import { addVerifyCommand } from "../../src/cli/verify.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { type CommandLine, createCommandLine } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { settingsFor, startWaybill, type Waybill } from "../support/waybill.ts";

type Shown = { readonly sha256: string; readonly subject: string; readonly fault: string };
type Stopped = { readonly projection: string; readonly atSequence: number; readonly command: string };

describe("a message in the log that cannot be decoded", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mail: TestMailServer;
  let service: Waybill;
  let opened: OpenedLog;
  let client: ApiClient;
  let cli: CommandLine;
  let first: string;
  let second: string;
  let planted: number;
  let shown: Shown;

  const mailing = { subject: "Hi", body: "Hello", recipients: ["ada@example.com"] };
  const pass = (sha256: string) =>
    cli.run("log", "pass", "--sequence", String(planted), "--sha256", sha256, "--reason", "written by hand", "--json");
  const stopped = async (): Promise<readonly Stopped[]> => {
    const { body } = await client.get("/readyz");
    return (body as { dependencies: { mysql: { stopped?: readonly Stopped[] } } }).dependencies.mysql.stopped ?? [];
  };
  const listed = async (): Promise<readonly unknown[]> =>
    ((await client.get("/api/jobs")).body as { data: { id: string }[] }).data.map(({ id }) => id);

  before(async () => {
    [nats, database, mail] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    const surroundings = { nats, mysqlUrl: database.url, smtpUrl: mail.url };
    service = await startWaybill(surroundings);
    client = createApiClient(service.url);
    cli = createCommandLine([addSealCommands, addVerifyCommand, addRebuildCommand], settingsFor(surroundings));
    opened = await openJetStreamLog(nats.config, nats.prefix);
    first = await client.create(mailing);
    await client.ended(first);
    const subject = `${nats.prefix}.jobs.default.${first}.facts`;
    ({ seq: planted } = await opened.connection.nats.jetstream().publish(subject, "hello"));
    second = await client.create(mailing);
  });
  after(async () => {
    await opened.close();
    await service.stop();
    await Promise.all([mail.stop(), database.drop(), nats.cleanUp()]);
  });

  it("stops the projections, which is seen in /readyz with the command that shows it", async () => {
    const here = { projection: "jobs", atSequence: planted, command: `waybill log show ${planted}` };
    await eventually(async () => {
      expect(await stopped()).to.have.lengthOf(allProjectors.length);
      expect(await stopped()).to.deep.include(here);
    }, 30_000);
    expect(JSON.stringify((await client.get("/api/admin/projections")).body)).to.include(`waybill log show ${planted}`);
    expect((await client.get(`/api/jobs/${first}/events`)).status).to.equal(500);
  });

  it("is shown with its subject, its digest, what is wrong with it, and the command that passes it by", async () => {
    const { printed } = await cli.run("log", "show", String(planted));
    shown = JSON.parse((await cli.run("log", "show", String(planted), "--json")).printed[0] ?? "");
    expect(shown).to.include({ subject: `${nats.prefix}.jobs.default.${first}.facts`, body: "hello" });
    expect(printed.join("\n")).to.include(`waybill log pass --sequence ${planted} --sha256 ${shown.sha256}`);
    expect(printed.join("\n")).to.include("is not valid JSON");
  });

  it("is not passed by under another digest, nor is one that can be decoded", async () => {
    expect(String(await failureOf(pass("0".repeat(64))))).to.include(`has the digest ${shown.sha256}`);
    const decodable = JSON.parse((await cli.run("log", "show", "1", "--json")).printed[0] ?? "") as Shown;
    const passing = cli.run("log", "pass", "--sequence", "1", "--sha256", decodable.sha256, "--reason", "no");
    expect(String(await failureOf(passing))).to.include("can be decoded");
    expect(await stopped()).not.to.deep.equal([]);
  });

  it("is passed by once an operator says so: what stopped goes on by itself", async () => {
    await pass(shown.sha256);
    // Twice is as good as once.
    await pass(shown.sha256);
    await eventually(async () => expect(await stopped()).to.deep.equal([]), 30_000);
    await eventually(async () => expect(await listed()).to.include.members([first, second]));
    const { body } = await client.get("/api/admin/system");
    const { passed } = body as { passed: readonly object[] };
    expect(passed).to.have.length(1);
    expect(passed[0]).to.include({ sequence: planted, sha256: shown.sha256, reason: "written by hand" });
  });

  it("is passed by from then on by every reader of the log: history, feeds, evidence, rebuilds", async () => {
    const { status, body } = await client.get(`/api/jobs/${first}/events`);
    expect(status).to.equal(200);
    expect((body as { type: string }[]).map(({ type }) => type)).to.include.members(["JobCreated", "JobCompleted"]);
    const feed = await client.get("/api/events?limit=100");
    const subjects = (feed.body as { data: { jobId: string }[] }).data.map(({ jobId }) => jobId);
    expect(subjects).to.include.members([first, second]);
    expect((await fetch(`${service.url}/api/jobs/${first}/evidence`)).status).to.equal(200);
    await cli.run("rebuild");
    await eventually(async () => expect(await listed()).to.include.members([first, second]));
  });

  it("stays in the log, sealed, and verify names the operator and the reason", async () => {
    const { printed } = await cli.run("verify");
    expect(printed.join("\n")).to.match(
      new RegExp(`\\[passed by\\] ${planted} \\(.+\\), which could not be decoded, by cli:\\S+ at .+: written by hand`),
    );
    expect(printed.at(-1)).to.equal("What is here and was sealed is as it was sealed.");
  });

  it("is passed by where it was the last on the subject of a job's decisions, and the job can be decided about", async () => {
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const job = await client.create({ ...mailing, scheduledAt });
    const subject = `${nats.prefix}.jobs.default.${job}`;
    ({ seq: planted } = await opened.connection.nats.jetstream().publish(subject, "hello"));
    expect((await client.delete(`/api/jobs/${job}`)).status).to.equal(500);
    const { sha256 } = JSON.parse((await cli.run("log", "show", String(planted), "--json")).printed[0] ?? "") as Shown;
    await pass(sha256);
    expect((await client.delete(`/api/jobs/${job}`)).status).to.equal(200);
    await client.ended(job);
  });
});
