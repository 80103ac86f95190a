import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { CannotStart } from "../../src/process/lifecycle.ts";
import { findBinary, findDatabaseBinary, searchFolders } from "../../src/standalone/find-binary.ts";
import { locateServers } from "../../src/standalone/locate-servers.ts";
import { failureOf } from "../support/failure-of.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function writeProgram(file: string, output: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\necho '${output}'\n`);
  await chmod(file, 0o755);
}

describe("looking for the programs of the servers", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    await Promise.all(["first", "second"].map((name) => mkdir(join(folder, name))));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("names the command for each system where they are missing and may not be installed", async () => {
    const printed: string[] = [];
    const locating = locateServers(new Set(["nats", "database"]), false, (line) => printed.push(line), [folder]);
    const failure = await failureOf(locating);
    expect(failure).to.be.instanceOf(CannotStart);
    expect(failure.message.split("\n")).to.include.members([
      "  Debian, Ubuntu   sudo apt-get install -y nats-server mariadb-server",
      "  Fedora           sudo dnf install -y nats-server mariadb-server",
      "  macOS            brew install nats-server mariadb",
      "  docker compose up",
    ]);
    expect(printed).to.deep.equal([]);
  });

  it("asks only for what is missing", async () => {
    await writeProgram(join(folder, "first", "nats-server"), "nats-server: v2.12.0");
    const locating = locateServers(new Set(["nats", "database"]), false, () => {}, [join(folder, "first")]);
    const { message } = await failureOf(locating);
    expect(message).to.contain("brew install mariadb").and.not.contain("nats-server");
  });

  it("goes through PATH in its order, then the usual folders", async () => {
    const path = `${join(folder, "first")}:relative:${join(folder, "second")}`;
    expect(searchFolders(path).slice(0, 3)).to.deep.equal([join(folder, "first"), join(folder, "second"), "/usr/sbin"]);
    await writeProgram(join(folder, "second", "nats-server"), "");
    expect(await findBinary(["nats-server"], searchFolders(path))).to.equal(join(folder, "second", "nats-server"));
    await writeProgram(join(folder, "first", "nats-server"), "");
    expect(await findBinary(["nats-server"], searchFolders(path))).to.equal(join(folder, "first", "nats-server"));
  });

  it("looks where Fedora keeps the database server, which is in no PATH", () => {
    expect(searchFolders("")).to.include("/usr/libexec");
  });

  it("passes over what cannot be run", async () => {
    await mkdir(join(folder, "first", "nats-server"));
    await writeFile(join(folder, "second", "nats-server"), "");
    expect(await findBinary(["nats-server"], [join(folder, "first"), join(folder, "second")])).to.equal(null);
  });

  it("tells MariaDB from MySQL by what it says of itself", async () => {
    const path = join(folder, "first", "mysqld");
    await writeProgram(path, "mysqld  Ver 10.11.19-MariaDB for debian-linux-gnu");
    expect(await findDatabaseBinary([join(folder, "first")])).to.deep.equal({ path, kind: "mariadb" });
    await writeProgram(path, "/usr/sbin/mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)");
    expect(await findDatabaseBinary([join(folder, "first")])).to.deep.equal({ path, kind: "mysql" });
  });
});
