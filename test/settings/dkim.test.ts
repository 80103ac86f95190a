import { generateKeyPairSync } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { InvalidConfig, readConfig } from "../../src/settings/config.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const pem = { type: "pkcs8", format: "pem" } as const;
const rsa = (bits: number): string =>
  generateKeyPairSync("rsa", { modulusLength: bits }).privateKey.export(pem).toString();

describe("the settings of DKIM", () => {
  let folder: string;
  before(async () => {
    folder = await temporaryFolder();
  });
  after(() => rm(folder, { recursive: true }));

  const file = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };
  const faultsOf = (env: Record<string, string>): string[] => {
    try {
      readConfig(env);
      return [];
    } catch (failure) {
      if (failure instanceof InvalidConfig) return failure.message.split("\n").slice(1);
      throw failure;
    }
  };
  const withKey = (path: string) => ({ DKIM_DOMAIN: "example.org", DKIM_SELECTOR: "spring2026", DKIM_KEY: path });

  it("are not needed if the mail server signs", () => {
    expect(readConfig({}).dkim).to.equal(null);
  });

  it("name the domain, the selector and a file with a private RSA key, which is read at once", async () => {
    const { dkim } = readConfig(withKey(await file("good.pem", rsa(2048))));
    expect(dkim).to.include({ domain: "example.org", selector: "spring2026" });
    expect(dkim?.privateKey.asymmetricKeyDetails?.modulusLength).to.equal(2048);
  });

  it("are taken all three or none, and those that are missing are named", () => {
    expect(faultsOf({ DKIM_DOMAIN: "example.org" })).to.deep.equal([
      '  DKIM_SELECTOR is ""; expected all of DKIM_DOMAIN, DKIM_SELECTOR, DKIM_KEY, or none of them',
      '  DKIM_KEY is ""; expected all of DKIM_DOMAIN, DKIM_SELECTOR, DKIM_KEY, or none of them',
    ]);
  });

  it("are refused with a key that is no key, of another kind, or too short to be trusted", async () => {
    const ed25519 = generateKeyPairSync("ed25519").privateKey.export(pem).toString();
    const refusals: readonly [string, RegExp][] = [
      [join(folder, "nowhere.pem"), /ENOENT/],
      [await file("text.pem", "hello"), /DKIM_KEY is ".*text\.pem"; expected a PEM file with a private RSA key/],
      [await file("ed25519.pem", ed25519), /it holds one of ed25519$/],
      [await file("short.pem", rsa(768)), /at least 1024 bits; it has 768$/],
    ];
    for (const [path, fault] of refusals) {
      const faults = faultsOf(withKey(path));
      expect(faults).to.have.lengthOf(1);
      expect(faults[0]).to.match(fault);
    }
  });

  it("are refused with a domain or a selector that no DNS name can have", async () => {
    const good = await file("good.pem", rsa(2048));
    const faults = faultsOf({ DKIM_DOMAIN: "exa mple;d=evil.org", DKIM_SELECTOR: "s;b=", DKIM_KEY: good });
    expect(faults).to.have.lengthOf(2);
    expect(faults.join()).to.match(/DKIM_DOMAIN is .*DKIM_SELECTOR is "s;b="/);
  });
});
