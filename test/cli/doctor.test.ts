import { rm } from "node:fs/promises";
import { expect } from "chai";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addDoctorCommand } from "../../src/cli/doctor.ts";
import { subjectOf } from "../../src/event-log/subjects.ts";
import { examineClock, toFinding } from "../../src/health/examine-surroundings.ts";
import type { Finding } from "../../src/health/finding.ts";
import { readConfig } from "../../src/settings/config.ts";
import { startStandalone } from "../../src/standalone/standalone.ts";
import { type CommandLine, createCommandLine } from "../support/cli.ts";
import { failureOf } from "../support/failure-of.ts";
import { newJob } from "../support/happen.ts";
import { openJetStreamLog } from "../support/jetstream-log.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startScriptedNats } from "../support/scripted-nats.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { settingsFor } from "../support/waybill.ts";

describe("waybill doctor", () => {
  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let commandLine: CommandLine;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    await (await openJetStreamLog(nats.config, nats.prefix)).close();
  });
  after(async () => {
    await mailServer?.stop();
    await database?.drop();
    await nats?.cleanUp();
  });

  /** Everything is well but what a test plants; whether the doctor found it serious comes with the findings. */
  const examine = async (planted: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    const env = settingsFor({ nats, mysqlUrl: database.url, smtpUrl: mailServer.url });
    commandLine = createCommandLine([addDoctorCommand], { ...env, ...planted });
    let failure: unknown = null;
    await commandLine.run("doctor", "--json", ...args).catch((reason: unknown) => {
      failure = reason;
    });
    if (failure !== null && !(failure instanceof CommandFailed)) throw failure;
    const findings = JSON.parse(commandLine.last().printed.join("")) as readonly Finding[];
    return { findings, isSerious: failure !== null };
  };
  const expectSerious = async (
    planted: Readonly<Record<string, string>>,
    part: string,
    ...words: readonly string[]
  ) => {
    const { findings, isSerious } = await examine(planted);
    const found = findings.filter(({ level }) => level === "serious");
    expect([isSerious, found.map((finding) => finding.part)]).to.deep.equal([true, [part]]);
    const [{ what = "", advice = "" } = {}] = found;
    for (const word of words) expect(`${what} ${advice}`).to.include(word);
    expect(JSON.stringify(findings)).not.to.include("secret-password");
  };
  const changed = (text: string, change: (url: URL) => void): string => {
    const url = new URL(text);
    change(url);
    return url.href;
  };

  it("finds nothing serious where nothing is wrong, and says what it looked at", async () => {
    const { findings, isSerious } = await examine({});
    expect(findings.filter(({ level }) => level === "serious")).to.deep.equal([]);
    expect(isSerious).to.equal(false);
    expect(new Set(findings.map(({ part }) => part))).to.deep.equal(new Set(["nats", "mysql", "smtp", "clock"]));
  });

  it("says that it has not looked at the mail server where only others are told of it, as with Compose", async () => {
    const { findings } = await examine({ SMTP_URL: "" });
    expect(findings.filter(({ part }) => part === "smtp").map(({ level }) => level)).to.deep.equal(["warning"]);
  });

  it("warns of a sender that mail servers refuse, where MAIL_FROM is not set", async () => {
    const warningsWith = async (planted: Readonly<Record<string, string>>) => {
      const { findings } = await examine(planted);
      return findings.filter(({ part, level }) => part === "smtp" && level === "warning").map(({ what }) => what);
    };
    const relay = { SMTP_URL: "smtp://relay.invalid:1" };
    expect((await warningsWith({ ...relay, MAIL_FROM: "" })).join()).to.match(/^MAIL_FROM is waybill@localhost/);
    expect(await warningsWith(relay)).to.deep.equal([]);
    expect(await warningsWith({ MAIL_FROM: "" })).to.deep.equal([]);
  });

  it("prints a line for each finding, and what to do", async () => {
    const env = settingsFor({ nats, mysqlUrl: database.url, smtpUrl: "smtp://127.0.0.1:1" });
    const failing = createCommandLine([addDoctorCommand], env);
    const failure = await failureOf(failing.run("doctor"));
    expect(failure.message).to.equal("1 finding is serious.");
    const text = failing.last().printed.join("\n");
    expect(text).to.match(/^ok +nats +NATS \S+ answers$/m);
    expect(text).to.match(/^SERIOUS +smtp +127\.0\.0\.1:1: .*ECONNREFUSED.*\n +-> Check host and port in SMTP_URL/m);
  });

  it("finds a NATS that is not there", () =>
    expectSerious({ NATS_URL: "nats://127.0.0.1:1" }, "nats", "127.0.0.1:1", "NATS_URL"));

  it("finds a wrong password of NATS", async () => {
    // A NATS server that the test run was given may need no password; then no password is wrong.
    if (nats.config.user !== null)
      await expectSerious({ NATS_PASSWORD: "secret-password" }, "nats", "refuses the login", "NATS_PASSWORD");
  });

  it("finds a NATS without JetStream, and one that is too old", async () => {
    for (const [version, words] of [
      ["2.9.10", ["JetStream is unavailable", "-js"]],
      ["2.8.4", ["2.9 or later"]],
    ] as const) {
      const scripted = await startScriptedNats(version);
      try {
        const { findings } = await examine({ NATS_URL: scripted.url, NATS_USER: "", NATS_PASSWORD: "" });
        const found = findings
          .filter(({ level }) => level === "serious")
          .map(({ what, advice }) => `${what} ${advice}`);
        for (const word of words) expect(found.join("\n")).to.include(word);
      } finally {
        await scripted.close();
      }
    }
  });

  it("finds a NATS that is not to keep several copies", async () => {
    for (const [version, isFit] of [
      ["2.9.10", false],
      ["2.10.26", false],
      ["2.10.27", true],
      ["2.11.0", true],
      ["3.0.0", true],
    ] as const) {
      const scripted = await startScriptedNats(version);
      try {
        const planted = { NATS_URL: scripted.url, NATS_USER: "", NATS_PASSWORD: "", STREAM_REPLICAS: "3" };
        const { findings } = await examine(planted);
        const found = findings.filter(({ what }) => what.startsWith("STREAM_REPLICAS is 3"));
        expect(found.map(({ level }) => level)).to.deep.equal(isFit ? [] : ["serious"], version);
      } finally {
        await scripted.close();
      }
    }
  });

  it("says which durability NATS has, or that only its monitoring port tells", async () => {
    const { findings } = await examine({});
    const said = findings.filter(({ what }) => /flush/.test(what));
    expect(said).to.have.lengthOf(1);
    expect(said[0]).to.include({ part: "nats", level: "warning" });
    expect(said[0]?.advice).to.match(/sync_interval|--nats-monitor/);
  });

  it("finds a wrong password, a missing database and a missing server of MySQL", async () => {
    const wrong = changed(database.url, (url) => {
      url.username = "nobody";
      url.password = "secret-password";
    });
    await expectSerious({ MYSQL_URL: wrong }, "mysql", "refuses the user nobody", "MYSQL_URL");
    const missing = changed(database.url, (url) => {
      url.pathname = "/not_there";
    });
    await expectSerious({ MYSQL_URL: missing }, "mysql", "not_there");
    await expectSerious({ MYSQL_URL: "mysql://root@127.0.0.1:1/x" }, "mysql", "127.0.0.1:1", "ECONNREFUSED");
  });

  it("finds a mail server that is down", () =>
    expectSerious({ SMTP_URL: "smtp://user:secret-password@127.0.0.1:1" }, "smtp", "ECONNREFUSED", "SMTP_URL"));

  it("finds a log that is nearly full", async () => {
    const limited = await startNats();
    try {
      const { connection, close } = await openJetStreamLog(limited.config, limited.prefix, { maxBytes: 1_100_000 });
      const subject = subjectOf(limited.prefix, newJob(), "job");
      await connection.nats.jetstream().publish(subject, new Uint8Array(950_000));
      await close();
      const { servers, user, password } = limited.config;
      const place = { NATS_URL: servers.join(","), NATS_USER: user ?? "", NATS_PASSWORD: password ?? "" };
      await expectSerious({ ...place, NATS_PREFIX: limited.prefix }, "nats", "JOBS_MAX_BYTES");
    } finally {
      await limited.cleanUp();
    }
  });

  it("tells clocks that differ from answers that take their time", () => {
    const reading = (reported: number) => ({ before: 1_000_000, reported, after: 1_000_200 });
    expect(examineClock("NATS", reading(1_000_100)).level).to.equal("fine");
    expect(examineClock("NATS", reading(1_000_900)).level).to.equal("fine");
    expect(examineClock("NATS", reading(1_005_200))).to.include({
      level: "warning",
      what: "The clock of NATS is 5.0 s ahead of this machine's",
    });
    expect(examineClock("NATS", reading(900_000))).to.include({
      level: "serious",
      what: "The clock of NATS is 100.0 s behind this machine's",
    });
  });

  it("warns of a disk before it is full", () => {
    const levels = [10e9, 0.9e9, 0.1e9].map((free) => toFinding("/data", free).level);
    expect(levels).to.deep.equal(["fine", "warning", "serious"]);
  });

  it("looks at the servers that Waybill starts itself, and at their disk", async function () {
    this.timeout(120_000);
    const folder = await temporaryFolder();
    try {
      const own = createCommandLine([addDoctorCommand], { DATA_DIR: folder });
      const service = await startStandalone(readConfig({ DATA_DIR: folder, SMTP_URL: "smtp://127.0.0.1:1" }), () => {});
      await service.stop();
      const findings = JSON.parse((await own.run("doctor", "--json")).printed.join("")) as readonly Finding[];
      expect(new Set(findings.map(({ part }) => part))).to.deep.equal(new Set(["nats", "mysql", "clock", "disk"]));
      expect(own.last().told.join()).to.include(`Working on the servers in ${folder}, started for this command`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("refuses a monitoring port that is no URL", async () => {
    const wrong = createCommandLine([addDoctorCommand], {});
    expect(await failureOf(wrong.run("doctor", "--nats-monitor", "8222"))).to.be.instanceOf(WrongUsage);
  });
});
