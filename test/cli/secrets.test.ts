import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { addDoctorCommand } from "../../src/cli/doctor.ts";
import { addSecretsCommands } from "../../src/cli/secrets.ts";
import { addWebhookCommands } from "../../src/cli/webhooks.ts";
import { createJetStreamMailRouteStore } from "../../src/mail/routes/jetstream-mail-route-store.ts";
import { putRoute } from "../../src/mail/routes/put-route.ts";
import { readEntries } from "../../src/nats/bucket.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import { createJetStreamSealStore } from "../../src/seals/jetstream-seal-store.ts";
import { makeKeyFile } from "../../src/secrets/make-key-file.ts";
import { rotateKeyFile } from "../../src/secrets/rotate-key-file.ts";
import { createSealing } from "../../src/secrets/sealing.ts";
import { newSecretKey, parseKeys, printKeys, readSecretKeys } from "../../src/secrets/secret-keys.ts";
import { createJetStreamWebhookStore } from "../../src/webhooks/jetstream-webhook-store.ts";
import { withSecret } from "../../src/webhooks/tenant-webhooks.ts";
import { createCommandLine } from "../support/cli.ts";
import { failureOf } from "../support/failure-of.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { settingsFor } from "../support/waybill.ts";

const password = "s3cret-pass%25word";

describe("The keys of the secrets in NATS", () => {
  let nats: TestNats;
  let connection: JetStreamConnection;
  let file: string;

  beforeEach(async () => {
    nats = await startNats();
    connection = await connectJetStream(nats.config, "test", () => {});
    file = join(await temporaryFolder(), "secrets.key");
  });
  afterEach(async () => {
    await connection.close();
    await nats.cleanUp();
  });

  const run = async (env: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    const own = settingsFor({ nats, mysqlUrl: "mysql://nobody@127.0.0.1:1/none", smtpUrl: "smtp://127.0.0.1:1" });
    const commands = [addSecretsCommands, addWebhookCommands, addDoctorCommand];
    const commandLine = createCommandLine(commands, { ...own, ...env });
    await commandLine.run(...args);
    return commandLine.last();
  };
  const rotate = async (...args: readonly string[]) =>
    JSON.parse((await run({ SECRETS_KEY: file }, "secrets", "rotate", "--json", ...args)).printed.join(""));
  /** The stores as a process with these keys has them; null for one without. */
  const stores = async (keyFile: string | null) => {
    const place = { prefix: nats.prefix, replicas: 1 };
    const keys = keyFile === null ? null : readSecretKeys(keyFile);
    return {
      webhooks: await createJetStreamWebhookStore(connection, place, createSealing(keys, "WEBHOOKS")),
      seals: await createJetStreamSealStore(connection, place, createSealing(keys, "SEALS")),
      routes: await createJetStreamMailRouteStore(connection, place, createSealing(keys, "ROUTES")),
    };
  };
  const storeAll = async (keyFile: string | null) => {
    const { webhooks, seals, routes } = await stores(keyFile);
    const { secrets } = (await webhooks.change("shop", withSecret)).webhooks;
    const request = { url: `smtp://ann:${password}@mail.example.org:587` };
    const stored = await putRoute(routes, "second", request, { isWhole: true, others: 1 });
    return { secret: secrets[0]?.text ?? "", sealKey: (await seals.key()).keyId, stored: stored.outcome };
  };
  /** What anyone sees who can read NATS. */
  const inNats = async (): Promise<string> => {
    const texts: string[] = [];
    for (const bucket of ["WEBHOOKS", "ROUTES", "SEALS"]) {
      const entries = await readEntries(connection, `${nats.prefix}_${bucket}`);
      texts.push(...entries.map(({ text }) => text));
    }
    return texts.join("\n");
  };
  const keysInFile = async () => parseKeys(await readFile(file, "utf8")).map(({ id }) => id);

  it("leave no password, secret or private key readable in NATS", async () => {
    await makeKeyFile(file);
    const { secret } = await storeAll(file);
    const text = await inNats();
    for (const word of [secret, password, "ann", "PRIVATE KEY"]) expect(text).not.to.include(word);
    expect(text.split("\n")).to.have.lengthOf(3);
  });

  it("encrypt what stood in clear, and a password is stored in clear by none", async () => {
    const { secret, sealKey, stored } = await storeAll(null);
    expect(stored).to.equal("no-secrets-key");
    expect(await inNats())
      .to.include(secret)
      .and.to.include("PRIVATE KEY");
    await makeKeyFile(file);
    expect(await rotate()).to.deep.include({ entries: 2, encrypted: 2 });
    expect(await inNats())
      .not.to.include(secret)
      .and.not.to.include("PRIVATE KEY");
    const { webhooks, seals } = await stores(file);
    expect((await webhooks.read("shop")).secrets[0]?.text).to.equal(secret);
    expect((await seals.key()).keyId).to.equal(sealKey);
  });

  it("are replaced while processes run: they find the new one, and what it encrypted", async () => {
    await makeKeyFile(file);
    const running = await stores(file);
    const { secret } = await storeAll(file);
    const [first] = await keysInFile();
    const { keyId } = await rotate();
    expect(await keysInFile()).to.deep.equal([keyId, first]);
    expect((await running.webhooks.read("shop")).secrets[0]?.text).to.equal(secret);
    await running.webhooks.change("other", withSecret);
    expect((await inNats()).match(/waybill-sealed:1:([0-9a-f]+)/g)).to.deep.equal(
      Array.from({ length: 4 }, () => `waybill-sealed:1:${keyId}`),
    );
  });

  it("are replaced once where a rotation broke off before all was encrypted", async () => {
    await makeKeyFile(file);
    await storeAll(file);
    const brokenOff = await rotateKeyFile(file);
    expect(await rotate()).to.deep.equal({ keyId: brokenOff, entries: 3, encrypted: 3 });
    expect(await keysInFile()).to.have.lengthOf(2);
  });

  it("are replaced without the file where that comes from elsewhere", async () => {
    await makeKeyFile(file);
    await storeAll(file);
    const next = newSecretKey();
    await writeFile(file, printKeys([next, ...parseKeys(await readFile(file, "utf8"))]));
    expect(await rotate("--keep-file")).to.deep.equal({ keyId: next.id, entries: 3, encrypted: 3 });
    expect(await rotate("--keep-file")).to.deep.include({ encrypted: 0 });
  });

  it("are asked for by name where a process or a command lacks one, and nothing is written then", async () => {
    await makeKeyFile(file);
    await storeAll(file);
    const [missing = ""] = await keysInFile();
    const before = await inNats();
    const other = join(await temporaryFolder(), "other.key");
    await makeKeyFile(other);
    const failures = await Promise.all([
      failureOf(run({ SECRETS_KEY: other }, "secrets", "rotate")),
      failureOf(run({ SECRETS_KEY: other }, "webhooks", "secret", "--tenant", "shop")),
      failureOf(run({}, "webhooks", "secret", "--tenant", "shop")),
      failureOf((await stores(other)).seals.key()),
    ]);
    for (const { message } of failures) expect(message).to.include(missing);
    expect(failures.map(({ name }) => name)).to.deep.equal([...Array(3).fill("CommandFailed"), "CannotOpen"]);
    expect(await inNats()).to.equal(before);
    expect(parseKeys(await readFile(other, "utf8"))).to.have.lengthOf(1);
  });

  it("are needed by the command that replaces them", async () => {
    expect((await failureOf(run({}, "secrets", "rotate"))).message).to.match(
      /^SECRETS_KEY is not set: there is no key to rotate\. Make a file with openssl rand/,
    );
    const nowhere = { SECRETS_KEY: join(await temporaryFolder(), "none") };
    expect((await failureOf(run(nowhere, "secrets", "rotate"))).message).to.match(/SECRETS_KEY is ".*none".*ENOENT/s);
  });
});
