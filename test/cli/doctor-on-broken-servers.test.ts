import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { connect } from "nats";
import { CommandFailed } from "../../src/cli/command-failed.ts";
import { addDoctorCommand } from "../../src/cli/doctor.ts";
import { streamFilter, streamName } from "../../src/event-log/subjects.ts";
import type { Finding } from "../../src/health/finding.ts";
import { isAtLeast } from "../../src/nats/server-version.ts";
import { startDatabaseServer } from "../../src/standalone/own-database-server.ts";
import { CannotRunHere, mountSmallDisk, type SmallDisk } from "../faults/small-disk.ts";
import { createCommandLine } from "../support/cli.ts";
import { atEndOfRun } from "../support/end-of-run.ts";
import { eventually } from "../support/eventually.ts";
import { openJetStreamLog } from "../support/jetstream-log.ts";
import { findDatabaseSource, findNatsSource } from "../support/server-sources.ts";
import { startOwnNats } from "../support/services.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { settingsFor } from "../support/waybill.ts";

type OwnNats = { readonly url: string; readonly monitorUrl: string; readonly version: string; stop(): Promise<void> };

describe("waybill doctor, asked about servers that are broken for real", () => {
  let stage: Stage;

  before(async () => {
    stage = await setStage();
  });
  after(async () => {
    await stage?.cleanUp();
  });

  const examine = async (planted: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    const env = { ...settingsFor(stage.surroundings), ...planted };
    const commandLine = createCommandLine([addDoctorCommand], env);
    await commandLine.run("doctor", "--json", ...args).catch((failure: unknown) => {
      if (!(failure instanceof CommandFailed)) throw failure;
    });
    return JSON.parse(commandLine.last().printed.join("")) as readonly Finding[];
  };
  const seriousOnes = (findings: readonly Finding[]): readonly string[] =>
    findings.filter(({ level }) => level === "serious").map(({ part, what, advice }) => `${part}: ${what} ${advice}`);

  /** Null where a server was named to the tests: there is no program to start another one with. */
  async function startOwn(config: string): Promise<OwnNats | null> {
    const source = await findNatsSource();
    if (source.kind === "running") return null;
    const file = join(stage.folder, "nats.conf");
    await writeFile(file, `host: "127.0.0.1"\nport: -1\nhttp: "127.0.0.1:-1"\n${config}\n`);
    const child: ChildProcess = spawn(source.binary, ["-c", file], { stdio: ["ignore", "ignore", "pipe"] });
    const exited = once(child, "exit");
    const stop = async (): Promise<void> => {
      child.kill("SIGKILL");
      await exited;
    };
    atEndOfRun(stop);
    let log = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
    const found = (pattern: RegExp): string => {
      const [, text] = pattern.exec(log) ?? [];
      if (text === undefined) throw new Error(`The server does not say ${pattern}: ${log}`);
      return text;
    };
    await eventually(() => found(/(Server is ready)/), 20_000).catch(async (failure: unknown) => {
      await stop();
      throw failure;
    });
    return {
      url: `nats://${found(/client connections on (127\.0\.0\.1:\d+)/)}`,
      monitorUrl: `http://${found(/http monitor on (127\.0\.0\.1:\d+)/)}`,
      version: found(/Version: +v?([\d.]+)/),
      stop,
    };
  }
  const placeOf = ({ url }: OwnNats) => ({ NATS_URL: url, NATS_USER: "", NATS_PASSWORD: "" });

  it("finds that JetStream is not on", async () => {
    const own = await startOwn("");
    if (own === null) return;
    const found = seriousOnes(await examine(placeOf(own)));
    await own.stop();
    expect(found).to.have.lengthOf(1);
    expect(found[0]).to.match(/^nats: JetStream is unavailable: .* Start the server with -js/);
  });

  for (const isSet of [false, true]) {
    it(`tells from the monitoring port that fsync is ${isSet ? "set" : "not set"}`, async () => {
      const probe = await startOwn(`jetstream { store_dir: "${join(stage.folder, "unset")}" }`);
      if (probe === null) return;
      // Servers before 2.10 do not know the setting, and do not start with it.
      const knows = isAtLeast(probe.version, [2, 10]);
      const own =
        isSet && knows
          ? await startOwn(`jetstream { store_dir: "${join(stage.folder, "set")}", sync_interval: always }`)
          : probe;
      const findings = await examine(placeOf(own ?? probe), "--nats-monitor", (own ?? probe).monitorUrl);
      await Promise.all([probe.stop(), own?.stop()]);
      const [said] = findings.filter(({ what }) => /flush/.test(what));
      expect(said?.level).to.equal(isSet && knows ? "fine" : "warning");
      if (!(isSet && knows)) expect(said?.advice).to.include("sync_interval: always");
    });
  }

  it("says how much of what the account may store is taken", async () => {
    const account = "{ jetstream: { max_file: 4000000 }, users: [{ user: w, password: w }] }";
    const own = await startOwn(
      `jetstream { store_dir: "${join(stage.folder, "limited")}" }\naccounts { W: ${account} }`,
    );
    if (own === null) return;
    const asOne = { ...placeOf(own), NATS_USER: "w", NATS_PASSWORD: "w" };
    const saidOf = async () => (await examine(asOne)).filter(({ what }) => what.startsWith("The account"));
    const nothing = { part: "nats", level: "fine", what: "The account has used 0 % of its limit", advice: null };
    expect(await saidOf()).to.deep.equal([nothing]);
    const nats = await connect({ servers: [own.url], user: "w", pass: "w" });
    const { streams } = await nats.jetstreamManager();
    await streams.add({ name: "OTHER", subjects: ["other"] });
    for (let sent = 0; sent < 7; sent += 1) await nats.jetstream().publish("other", new Uint8Array(500_000));
    await nats.close();
    const [said] = await saidOf();
    await own.stop();
    expect(said?.level).to.equal("serious");
    expect(`${said?.what}. ${said?.advice}`).to.match(
      /^The account has used 8\d % of its limit\. Raise its limit: from 80 % on new jobs are refused\.$/,
    );
  });

  it("takes no old message for the clock of a NATS that stores none", async () => {
    const own = await startOwn(`jetstream { store_dir: "${join(stage.folder, "sealed")}" }`);
    if (own === null) return;
    const { prefix } = stage.surroundings.nats;
    const nats = await connect({ servers: [own.url] });
    const { streams } = await nats.jetstreamManager();
    const subject = streamFilter(prefix, "CANARY").replace(">", "1");
    const { config } = await streams.add({ name: `${streamName(prefix, "CANARY")}_1`, subjects: [subject] });
    await nats.jetstream().publish(subject, "before");
    await nats.request(`$JS.API.STREAM.UPDATE.${config.name}`, JSON.stringify({ ...config, sealed: true }));
    await nats.close();
    // As much as two clocks may differ, and an answer may take.
    await pause(4500);
    const findings = await examine(placeOf(own));
    await own.stop();
    expect(seriousOnes(findings).join("\n")).to.match(/^nats: NATS does not store a message: .*$/);
    expect(findings.filter(({ what }) => /clock of NATS/.test(what))).to.deep.equal([]);
  });

  it("finds a clock of the database that is off", async function () {
    this.timeout(120_000);
    const source = await findDatabaseSource();
    if (source.kind === "running") return;
    const dataDir = join(stage.folder, "late");
    await (await startDatabaseServer({ dataDir, binary: source.binary })).stop();
    // Begins each session an hour ago. The clock of the machine is shared, and stays as it is.
    const path = join(stage.folder, "late-database");
    const late = "--init-connect=SET timestamp = UNIX_TIMESTAMP() - 3600";
    const script = await readFile(source.binary.path, "latin1");
    // A program that is a script itself is to begin as it does: with what it says first.
    const begin = script.startsWith("#!") ? script.trimEnd() : `#!/bin/sh\nexec "${source.binary.path}" "$@"`;
    await writeFile(path, `${begin} "${late}"\n`, { mode: 0o755 });
    const own = await startDatabaseServer({ dataDir, binary: { ...source.binary, path } });
    try {
      const found = seriousOnes(await examine({ MYSQL_URL: own.url }));
      expect(found).to.have.lengthOf(1);
      expect(found[0]).to.match(/^clock: The clock of the database is 3[56]\d\d\.\d s behind this machine's .*NTP/);
    } finally {
      await own.stop();
    }
  });

  it("finds a disk that is full, under NATS and under its own data", async function () {
    this.timeout(120_000);
    let disk: SmallDisk;
    try {
      disk = await mountSmallDisk();
    } catch (failure) {
      // Only root may mount one, and not everywhere: elsewhere what is known of a full disk is in doctor.test.ts.
      if (failure instanceof CannotRunHere) return;
      throw failure;
    }
    const onSmallDisk = await startOwnNats(disk.folder);
    try {
      await (await openJetStreamLog(onSmallDisk.config, onSmallDisk.prefix)).close();
      // As a database server has left it that ran here.
      await mkdir(join(disk.folder, "mariadb"));
      await disk.fill();
      const { MYSQL_URL: _, ...named } = settingsFor({
        nats: onSmallDisk,
        mysqlUrl: "",
        smtpUrl: stage.mailServer.url,
      });
      const found = seriousOnes(await examine(named));
      expect(found).to.have.lengthOf(1);
      expect(found[0]).to.match(/^nats: NATS does not store a message: .* Look at the disk under its store_dir/);
      const own = seriousOnes(await examine({ MYSQL_URL: "", DATA_DIR: disk.folder }));
      expect(own.filter((line) => line.startsWith("disk: "))).to.have.lengthOf(1);
      expect(own.join("\n")).to.match(/^disk: 0 MB are free under .* Make room/m);
    } finally {
      await disk.makeRoom();
      await onSmallDisk.cleanUp();
      await disk.remove();
    }
  });
});
