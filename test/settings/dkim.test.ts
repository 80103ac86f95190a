import { generateKeyPairSync } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { InvalidConfig, readConfig } from "../../src/settings/config.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const pem = { type: "pkcs8", format: "pem" } as const;
const rsa = (bits: number): string =>
  generateKeyPairSync("rsa", { modulusLength: bits }).privateKey.export(pem).toString();
/** One for all tests: a second of these can take as long as all other tests here. */
const goodKey = rsa(2048);

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
    const { dkim } = readConfig(withKey(await file("good.pem", goodKey)));
    expect(dkim?.fallback).to.include({ domain: "example.org", selector: "spring2026" });
    expect(dkim?.fallback?.privateKey.asymmetricKeyDetails?.modulusLength).to.equal(2048);
  });

  it("are taken all three or none, and those that are missing are named", () => {
    expect(faultsOf({ DKIM_DOMAIN: "example.org" })).to.deep.equal([
      '  DKIM_SELECTOR is ""; expected all of DKIM_DOMAIN, DKIM_SELECTOR, DKIM_KEY, or none of them',
      '  DKIM_KEY is ""; expected all of DKIM_DOMAIN, DKIM_SELECTOR, DKIM_KEY, or none of them',
    ]);
  });

  it("are refused with a key that is no key, of another kind, or too short to be trusted", async () => {
    const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export(pem).toString();
    const refusals: readonly [string, RegExp][] = [
      [join(folder, "nowhere.pem"), /ENOENT/],
      [await file("text.pem", "hello"), /DKIM_KEY is ".*text\.pem"; expected a PEM file with a private RSA key/],
      [await file("ec.pem", ec), /it holds one of ec$/],
      [await file("short.pem", rsa(768)), /at least 1024 bits, or Ed25519; it has 768$/],
    ];
    for (const [path, fault] of refusals) {
      const faults = faultsOf(withKey(path));
      expect(faults).to.have.lengthOf(1);
      expect(faults[0]).to.match(fault);
    }
  });

  it("are refused with a domain or a selector that no DNS name can have", async () => {
    const good = await file("good.pem", goodKey);
    const faults = faultsOf({ DKIM_DOMAIN: "exa mple;d=evil.org", DKIM_SELECTOR: "s;b=", DKIM_KEY: good });
    expect(faults).to.have.lengthOf(2);
    expect(faults.join()).to.match(/DKIM_DOMAIN is .*DKIM_SELECTOR is "s;b="/);
  });

  describe("with a list of keys", () => {
    const ed25519 = generateKeyPairSync("ed25519").privateKey.export(pem).toString();
    const list = async (keys: unknown): Promise<Record<string, string>> => ({
      DKIM_KEYS: await file("keys.json", JSON.stringify(keys)),
    });

    before(async () => {
      await file("one.pem", goodKey);
      await file("two.pem", ed25519);
    });

    it("read each key from a file beside the list, with the instant from which it signs", async () => {
      const { dkim } = readConfig(
        await list([
          { domain: "Example.org", selector: "a", key: "one.pem" },
          { domain: "example.org", selector: "b", key: join(folder, "two.pem"), from: "2027-01-01T00:00+01:00" },
        ]),
      );
      expect(dkim?.fallback).to.equal(null);
      const read = dkim?.keys.map(({ domain, selector, privateKey: { asymmetricKeyType: type }, from }) => {
        return [domain, selector, type, from?.toISOString() ?? null];
      });
      expect(read).to.deep.equal([
        ["example.org", "a", "rsa", null],
        ["example.org", "b", "ed25519", "2026-12-31T23:00:00.000Z"],
      ]);
    });

    it("name every fault of every key", async () => {
      const faults = faultsOf(
        await list([
          { domain: "example.org", selector: "a", key: "nowhere.pem" },
          { domain: "exa mple", selector: "s;b=", key: "one.pem", from: "2027-01-01", until: "never" },
          "key",
        ]),
      );
      expect(faults).to.have.lengthOf(3);
      expect(faults[0]).to.match(/key 1 of 3: key: expected a PEM file .*ENOENT/);
      expect(faults[1]).to.match(/key 2 of 3: until is unknown; domain is .*; selector is .*; from is no instant/);
      expect(faults[2]).to.match(/key 3 of 3: it is not an object$/);
    });

    it("are refused with a file that holds no list", async () => {
      expect(faultsOf(await list([]))[0]).to.match(
        /DKIM_KEYS is ".*keys.json"; expected a JSON file .*it holds no list/,
      );
      expect(faultsOf({ DKIM_KEYS: await file("keys.json", "[") })).to.have.lengthOf(1);
      expect(faultsOf({ DKIM_KEYS: join(folder, "nowhere.json") })[0]).to.match(/ENOENT/);
    });

    it("are refused if two keys of a domain and a type begin at the same time, that of DKIM_KEY among them", async () => {
      const twin = { domain: "example.org", selector: "winter", key: "one.pem" };
      const [fault] = faultsOf({ ...(await list([twin])), ...withKey(join(folder, "one.pem")) });
      expect(fault).to.match(/expected keys of one domain and type to differ in "from"; spring2026 and winter of/);
      const later = { ...twin, from: "2027-01-01T00:00:00Z" };
      expect(faultsOf({ ...(await list([later])), ...withKey(join(folder, "one.pem")) })).to.deep.equal([]);
      expect(faultsOf(await list([twin, later]))[0]).to.match(
        /to differ in "selector"; winter and winter of example.org/,
      );
    });
  });
});
