import { randomBytes } from "node:crypto";
import { chmod, chown, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect } from "chai";
import { makeKeyFile } from "../../src/secrets/make-key-file.ts";
import { KeyFileLocked, rotateKeyFile } from "../../src/secrets/rotate-key-file.ts";
import { CannotOpen, createSealing } from "../../src/secrets/sealing.ts";
import { newSecretKey, parseKeys, printKeys, readSecretKeys } from "../../src/secrets/secret-keys.ts";
import { failureOf } from "../support/failure-of.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const secret = "whsec_c2VjcmV0";
const having = (...keys: ReturnType<typeof newSecretKey>[]) => ({ all: () => keys });

describe("A secret in NATS", () => {
  const [key, other] = [newSecretKey(), newSecretKey()];
  const sealing = createSealing(having(key), "WEBHOOKS");

  it("is encrypted, differently each time, and names its key", () => {
    const [one, again] = [sealing.seal("shop", secret), sealing.seal("shop", secret)];
    expect(one).not.to.include(secret).and.not.to.equal(again);
    expect(sealing.keyOf(one)).to.equal(key.id);
    expect([one, again].map((stored) => sealing.open("shop", stored))).to.deep.equal([secret, secret]);
  });

  it("cannot be decrypted where it was moved to, nor once a byte of it was changed", () => {
    const stored = sealing.seal("shop", secret);
    expect(() => sealing.open("other", stored)).to.throw(CannotOpen, "moved from elsewhere");
    expect(() => createSealing(having(key), "ROUTES").open("shop", stored)).to.throw(CannotOpen);
    const [head, bytes = ""] = [stored.slice(0, stored.lastIndexOf(":") + 1), stored.split(":").at(-1)];
    for (const place of [0, 14, Buffer.from(bytes, "base64").length - 1]) {
      const changed = Buffer.from(bytes, "base64");
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect(() => sealing.open("shop", head + changed.toString("base64")), String(place)).to.throw(CannotOpen);
    }
    expect(() => sealing.open("shop", `${head}AAAA`)).to.throw(CannotOpen);
  });

  it("says which key is missing, and nothing of the secret", () => {
    const stored = sealing.seal("shop", secret);
    for (const keys of [having(other), null]) {
      expect(() => createSealing(keys, "WEBHOOKS").open("shop", stored)).to.throw(CannotOpen, key.id);
    }
  });

  it("is decrypted by any key of the file, and encrypted by the first", () => {
    const both = createSealing(having(other, key), "WEBHOOKS");
    expect(both.open("shop", sealing.seal("shop", secret))).to.equal(secret);
    expect(both.keyOf(both.seal("shop", secret))).to.equal(other.id);
  });

  it("is read where it stands in clear from before, and stays so without a key", () => {
    expect(sealing.open("shop", '{"secrets":[]}')).to.equal('{"secrets":[]}');
    expect(createSealing(null, "WEBHOOKS").seal("shop", secret)).to.equal(secret);
  });
});

describe("The file with the keys", () => {
  const newFile = async (): Promise<string> => join(await temporaryFolder(), "secrets.key");

  it("is made once, by one of several processes, for its owner alone", async () => {
    const file = await newFile();
    await Promise.all([makeKeyFile(file), makeKeyFile(file), makeKeyFile(file)]);
    const text = await readFile(file, "utf8");
    await makeKeyFile(file);
    expect(await readFile(file, "utf8")).to.equal(text);
    expect(parseKeys(text)).to.have.lengthOf(1);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
  });

  it("names the line that is wrong, and quotes nothing of it", () => {
    const short = randomBytes(16).toString("base64");
    expect(() => parseKeys(`# ours\n\n${short}\n`))
      .to.throw("line 3 is not a key")
      .with.property("message")
      .not.include(short);
    expect(() => parseKeys("# none\n")).to.throw("it holds no key");
  });

  it("is read anew by processes that run, and the last good keys stand where it is away or broken", async () => {
    const [file, key, next] = [await newFile(), newSecretKey(), newSecretKey()];
    await writeFile(file, printKeys([key]));
    const keys = readSecretKeys(file);
    await writeFile(file, printKeys([next, key]));
    expect(keys.all().map(({ id }) => id)).to.deep.equal([next.id, key.id]);
    await writeFile(file, "broken");
    expect(keys.all().map(({ id }) => id)).to.deep.equal([next.id, key.id]);
  });

  it("gets a new key in front, and loses none where two processes rotate at once", async () => {
    const file = await newFile();
    await makeKeyFile(file);
    const [first] = parseKeys(await readFile(file, "utf8"));
    const ends = await Promise.allSettled(Array.from({ length: 5 }, () => rotateKeyFile(file)));
    const made = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    for (const end of ends) if (end.status === "rejected") expect(end.reason).to.be.instanceOf(KeyFileLocked);
    const ids = parseKeys(await readFile(file, "utf8")).map(({ id }) => id);
    expect(made).not.to.deep.equal([]);
    expect(new Set(ids)).to.deep.equal(new Set([...made, first?.id]));
    expect(ids.at(-1)).to.equal(first?.id);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
  });

  it("can be read after a rotation by who could read it before", async () => {
    const file = await newFile();
    await makeKeyFile(file);
    await chmod(file, 0o640);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await chown(file, 0, 4242);
    await rotateKeyFile(file);
    const { mode, gid } = await stat(file);
    expect(mode & 0o777).to.equal(0o640);
    if (isRoot) expect(gid).to.equal(4242);
  });

  it("stays as it is while another rotation holds it, or died holding it", async () => {
    const file = await newFile();
    await makeKeyFile(file);
    await writeFile(`${file}.lock`, "");
    const before = await readFile(file, "utf8");
    expect((await failureOf(rotateKeyFile(file))).message).to.include("remove it");
    expect(await readFile(file, "utf8")).to.equal(before);
  });
});
