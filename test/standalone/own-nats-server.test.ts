import { execFile } from "node:child_process";
import { readFile, rm, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import { connect, type NatsConnection } from "nats";
import { CannotStart } from "../../src/process/lifecycle.ts";
import { type OwnNatsServer, startNatsServer } from "../../src/standalone/own-nats-server.ts";
import { identifyProcess } from "../../src/standalone/process-identity.ts";
import { failureOf } from "../support/failure-of.ts";
import { locateOwnBinaries } from "../support/own-binaries.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);

type Listed = { readonly pid: string; readonly group: string; readonly state: string; readonly command: string };

/** As ps lists them, zombies too. */
async function processes(): Promise<readonly Listed[]> {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,pgid=,stat=,comm="]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => {
      const [pid = "", group = "", state = "", ...command] = line.trim().split(/\s+/);
      return { pid, group, state, command: command.join(" ") };
    });
}

describe("a NATS server of one's own", () => {
  let dataDir: string;
  let server: OwnNatsServer;
  let binary: string;

  const open = ({ servers, user, password }: OwnNatsServer): Promise<NatsConnection> =>
    connect({ servers: [...servers], user, pass: password });

  before(async () => {
    binary = (await locateOwnBinaries()).nats;
  });
  beforeEach(async () => {
    dataDir = await temporaryFolder();
    server = await startNatsServer({ dataDir, binary });
  });
  afterEach(async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it("finds its data again in a second start, orderly or after a crash", async () => {
    for (const end of ["stop", "kill"] as const) {
      const before = await open(server);
      const streams = (await before.jetstreamManager()).streams;
      await streams.add({ name: end, subjects: [end] });
      await before.jetstream().publish(end, "still there");
      await before.close();
      await server[end]();
      server = await startNatsServer({ dataDir, binary });
      const after = await open(server);
      const message = await (await after.jetstreamManager()).streams.getMessage(end, { seq: 1 });
      expect(message.string()).to.equal("still there");
      await after.close();
    }
  });

  it("leaves no process behind when it has ended, not even one that only has to be waited for", async () => {
    for (const end of ["stop", "kill"] as const) {
      const [{ group = "" } = {}] = (await processes()).filter(({ pid }) => pid === String(server.pid));
      expect(group).to.match(/^\d+$/);
      await server[end]();
      // Its watchdog has said that it is gone: then no other process of its group may be left.
      expect((await processes()).filter((one) => one.group === group)).to.deep.equal([]);
      server = await startNatsServer({ dataDir, binary });
    }
  });

  it("refuses a login without its password", async () => {
    const failure = await failureOf(connect({ servers: [...server.servers] }));
    expect(failure.message).to.match(/authorization/i);
  });

  it("shows its password neither in the list of processes nor in a file that others can read", async () => {
    const identity = await identifyProcess(server.pid);
    expect(identity?.command).to.contain("nats-server").and.not.contain(server.password);
    const file = `${dataDir}/nats-server.conf`;
    expect(await readFile(file, "utf8")).to.contain(server.password);
    expect((await stat(file)).mode & 0o077).to.equal(0);
  });

  it("says with the server's own words why it does not start", async () => {
    const failure = await failureOf(startNatsServer({ dataDir: `${dataDir}/other`, binary, port: server.port }));
    expect(failure).to.be.instanceOf(CannotStart);
    expect(failure.message).to.match(/address already in use/);
  });
});
