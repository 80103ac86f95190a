import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { CannotStart } from "../../src/process/lifecycle.ts";
import { aptGetWaits, installServers, type ServerKind } from "../../src/standalone/install-servers.ts";
import { failureOf } from "../support/failure-of.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("installing the servers where that is allowed", () => {
  const path = process.env["PATH"] ?? "";
  let folder: string;
  let printed: string[];

  const install = (...missing: readonly ServerKind[]) => installServers(missing, (line) => printed.push(line));
  /** What apt-get was told to do, after the options that each order begins with. */
  const orders = async () => {
    const lines = (await readFile(join(folder, "orders"), "utf8")).trim().split("\n");
    const waits = `${aptGetWaits.join(" ")} `;
    return lines.map((line) => (line.startsWith(waits) ? line.slice(waits.length) : line));
  };

  // A machine has one apt-get, and a test must not install anything on it: this one writes down what it is told, and
  // knows no package whose name stands in the file "unknown".
  beforeEach(async () => {
    folder = await temporaryFolder();
    printed = [];
    await writeFile(join(folder, "unknown"), "");
    const aptGet = `echo "$*" >>"${folder}/orders"
for unknown in $(cat "${folder}/unknown"); do
  case "$*" in *$unknown*) echo "E: Unable to locate package $unknown" >&2; exit 100;; esac
done`;
    for (const [name, script] of [
      ["apt-get", aptGet],
      ["systemctl", "exit 0"],
    ] as const) {
      await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
      await chmod(join(folder, name), 0o755);
    }
    process.env["PATH"] = `${folder}:${path}`;
  });
  afterEach(async () => {
    process.env["PATH"] = path;
    await rm(folder, { recursive: true, force: true });
  });

  it("says so in one line, and installs no more than the servers", async () => {
    await install("nats", "database");
    expect(printed).to.have.length(1);
    expect(printed[0]).to.match(/nats-server and mariadbd or mysqld.*WAYBILL_INSTALL=no/);
    expect(await orders()).to.deep.equal([
      "update",
      "install -y --no-install-recommends nats-server",
      "install -y --no-install-recommends mariadb-server-core mariadb-client-core",
    ]);
  });

  it("installs only what is missing", async () => {
    await install("nats");
    expect(await orders()).to.deep.equal(["update", "install -y --no-install-recommends nats-server"]);
  });

  it("takes the whole package of a distribution that does not split it", async () => {
    await writeFile(join(folder, "unknown"), "mariadb-server-core");
    await install("database");
    expect((await orders()).at(-1)).to.equal("install -y --no-install-recommends mariadb-server");
  });

  it("says what apt-get said when it fails", async () => {
    await writeFile(join(folder, "unknown"), "nats-server");
    const failure = await failureOf(install("nats"));
    expect(failure).to.be.instanceOf(CannotStart);
    expect(failure.message).to.contain("E: Unable to locate package nats-server");
  });
});
