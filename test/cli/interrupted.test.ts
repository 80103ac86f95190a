import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { temporaryFolder } from "../support/temporary-folder.ts";

const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

describe("A command that is interrupted", function () {
  this.timeout(60_000);

  let silent: Server;
  let asked: Promise<unknown>;
  before(async () => {
    // It takes the request and never answers.
    silent = createServer(() => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
  });
  after(() => {
    silent.closeAllConnections();
    silent.close();
  });

  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    it(`ends with ${code} after ${signal}`, async () => {
      asked = once(silent, "request");
      const env = {
        PATH: process.env["PATH"],
        WAYBILL_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      };
      const child = spawn(process.execPath, [main, "jobs", "list"], { env, stdio: ["ignore", "ignore", "pipe"] });
      let told = "";
      child.stderr.on("data", (chunk: Buffer) => {
        told += chunk.toString();
      });
      const closed = once(child, "close");
      await asked;
      child.kill(signal);
      expect(await closed).to.deep.equal([code, null]);
      expect(told).to.equal("Interrupted.\n");
    });
  }

  it("ends in the same way where a file that the settings name was changed since it began", async () => {
    asked = once(silent, "request");
    const sealKey = join(await temporaryFolder(), "seal.pem");
    await writeFile(sealKey, generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }));
    const { port } = silent.address() as AddressInfo;
    const env = { WAYBILL_URL: `http://127.0.0.1:${port}`, SEAL_KEY: sealKey };
    const child = spawn(process.execPath, [main, "jobs", "list"], { env, stdio: "ignore" });
    const closed = once(child, "close");
    await asked;
    await writeFile(sealKey, "of the next release\n");
    child.kill("SIGTERM");
    expect(await closed).to.deep.equal([143, null]);
  });
});
