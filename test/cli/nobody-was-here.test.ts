import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { runProgram } from "../support/command-tree.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

describe("A command without named servers, where no service has ever run", () => {
  for (const words of [
    ["keys", "create", "--tenant", "default"],
    ["keys", "list", "--json"],
    ["keys", "revoke", "abc"],
    ["tenants", "list"],
    ["tenants", "set", "acme", "--daily-recipients", "1"],
    ["doctor"],
    ["doctor", "--json"],
    ["migrate"],
    ["seals", "key"],
    ["seals", "rotate"],
    ["seals", "accept"],
    ["verify"],
    ["verify", "--job", "abc"],
    ["webhooks", "secret"],
    ["log", "export", "log.ndjson"],
    ["rebuild"],
    ["throttles", "list"],
    ["secrets", "rotate"],
    ["archive", "--before", "2026-01-01", "--to", "somewhere"],
  ]) {
    it(`is refused, and begins nothing of its own: waybill ${words.join(" ")}`, async () => {
      const dataDir = join(await temporaryFolder(), "waybill");
      const { code, out, err } = await runProgram(words, { DATA_DIR: dataDir });
      expect({ code, out }).to.deep.equal({ code: 1, out: "" });
      expect(err).to.include(`NATS_URL is not set, and no service has run in ${dataDir}.`);
      expect(err).to.include("waybill start").and.include("DATA_DIR");
      expect(existsSync(dataDir)).to.equal(false);
    });
  }

  it("is refused in a folder of something else, and leaves nothing in it", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "notes.txt"), "mine");
    const { code, err } = await runProgram(["keys", "create", "--tenant", "default"], { DATA_DIR: folder });
    expect(code).to.equal(1);
    expect(err).to.include(`no service has run in ${folder}.`);
    expect(await readdir(folder)).to.deep.equal(["notes.txt"]);
  });

  it("is refused where it needs a database, too, and only NATS is named", async () => {
    const dataDir = join(await temporaryFolder(), "waybill");
    for (const words of [["doctor"], ["migrate"]]) {
      const { code, err } = await runProgram(words, { DATA_DIR: dataDir, NATS_URL: "nats://127.0.0.1:1" });
      expect(code).to.equal(1);
      expect(err).to.include("MYSQL_URL is not set");
    }
    expect(existsSync(dataDir)).to.equal(false);
  });
});

describe("The first key of a service that others can reach, on a fresh machine", () => {
  it("is made as the refused start says", async function () {
    this.timeout(120_000);
    const dataDir = join(await temporaryFolder(), "waybill");
    const env = { PATH: process.env["PATH"], HOST: "0.0.0.0", PORT: "0", DATA_DIR: dataDir, LOG_LEVEL: "silent" };
    const refused = spawn(process.execPath, [main, "start"], { env, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    refused.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    const [code] = await once(refused, "close");
    expect(code).to.equal(1);
    const [, words = ""] = /waybill (keys create.*)/.exec(said) ?? [];
    const made = await runProgram(words.trim().split(" "), { DATA_DIR: dataDir });
    expect(made.code, made.err).to.equal(0);
    expect(made.out).to.match(/^wb_\S+$/);
    expect(made.err).to.include(`Working on the servers in ${dataDir}, started for this command`);
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
    const [code] = await once(child, "close");
    await full.close();
    expect({ code, told: told.trim().split("\n").length }).to.deep.equal({ code: 1, told: 1 });
    expect(told).to.match(/^The output cannot be written: ENOSPC/);
  });

  it("does its work where no one reads what it says beside it", async () => {
    const env = { XDG_CONFIG_HOME: await temporaryFolder() };
    const words = ["profiles", "set", "here", "--url", "http://127.0.0.1:1", "--json"];
    const child = spawn(process.execPath, [main, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
    child.stderr.destroy();
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    const [code] = await once(child, "close");
    expect({ code, name: JSON.parse(out).name }).to.deep.equal({ code: 0, name: "here" });
  });
});
