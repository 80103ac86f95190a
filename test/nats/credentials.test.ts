import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { nkeys } from "nats";
import { toOptions } from "../../src/nats/connection.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const creds = (jwt: string): string =>
  Object.entries({ "USER JWT": jwt, "USER NKEY SEED": Buffer.from(nkeys.createUser().getSeed()).toString() })
    .map(([name, part]) => `-----BEGIN ${name}-----\n${part}\n------END ${name}------\n`)
    .join("\n");

describe("The file NATS_CREDS", () => {
  let folder: string;
  let file: string;

  before(async () => {
    folder = await temporaryFolder();
    file = join(folder, "waybill.creds");
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("is read at each connect, as credentials expire, and those of before stand while it is away or broken", async () => {
    await writeFile(file, creds("first"));
    const settings = { servers: ["a:4222"], user: null, password: null, credsFile: file, caFile: null };
    const { authenticator } = toOptions(settings, "test");
    const login = () => (typeof authenticator === "function" ? authenticator("nonce") : null);
    expect(login()).to.include({ jwt: "first" });
    await writeFile(file, creds("second"));
    expect(login()).to.include({ jwt: "second" });
    await writeFile(file, "-----BEGIN NATS");
    expect(login()).to.include({ jwt: "second" });
    await rm(file);
    expect(login()).to.include({ jwt: "second" });
  });
});
