import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { runProgram } from "../support/command-tree.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

describe("A command of somebody who names no servers, where no service has ever run", () => {
  for (const words of [
    ["seals", "key"],
    ["verify"],
    ["webhooks", "secret"],
    ["log", "export", "log.ndjson"],
    ["rebuild"],
  ]) {
    it(`is refused, and begins nothing of its own: waybill ${words.join(" ")}`, async () => {
      const dataDir = join(await temporaryFolder(), "waybill");
      const { code, out, err } = await runProgram(words, { DATA_DIR: dataDir });
      expect({ code, out }).to.deep.equal({ code: 1, out: "" });
      expect(err).to.include(`NATS_URL is not set, and no service has run here: there is no folder ${dataDir}.`);
      expect(existsSync(dataDir)).to.equal(false);
    });
  }

  it("makes the first key all the same, and says where", async function () {
    this.timeout(60_000);
    const dataDir = join(await temporaryFolder(), "waybill");
    const { code, err } = await runProgram(["keys", "create", "--tenant", "default"], { DATA_DIR: dataDir });
    expect(code, err).to.equal(0);
    expect(err).to.include(`there is no folder ${dataDir}. It is made, with servers of its own.`);
    const again = await runProgram(["keys", "list", "--json"], { DATA_DIR: dataDir });
    expect(JSON.parse(again.out)).to.have.length(1);
    expect(again.err).not.to.include("no service has run here");
  });
});

describe("A command whose output cannot be written", () => {
  it("says so in a line, and fails", async () => {
    const full = await open("/dev/full", "w");
    const child = spawn(process.execPath, [main, "--help"], { stdio: ["ignore", full.fd, "pipe"] });
    let told = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      told += chunk.toString();
    });
    const [code] = await once(child, "exit");
    await full.close();
    expect({ code, told: told.trim().split("\n").length }).to.deep.equal({ code: 1, told: 1 });
    expect(told).to.match(/^The output cannot be written: ENOSPC/);
  });
});
