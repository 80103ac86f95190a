import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { webhooksForWork } from "../../src/roles/webhooks-role.ts";
import { createSealing } from "../../src/secrets/sealing.ts";
import { newSecretKey, printKeys, readSecretKeys } from "../../src/secrets/secret-keys.ts";
import { createJetStreamWebhookStore } from "../../src/webhooks/jetstream-webhook-store.ts";
import { withSecret } from "../../src/webhooks/tenant-webhooks.ts";
import { bucketSettings, connectTo } from "../support/access.ts";
import { failureOf } from "../support/failure-of.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("A worker whose file SECRETS_KEY lacks the newest key", () => {
  let nats: TestNats;
  let connection: JetStreamConnection;

  before(async () => {
    nats = await startNats();
    connection = await connectTo(nats);
  });
  after(async () => {
    await connection.close();
    await nats.cleanUp();
  });

  it("tries webhook jobs again until it has the key, as while NATS is away, instead of breaking them off", async () => {
    const [newest, older] = [newSecretKey(), newSecretKey()];
    const folder = await temporaryFolder();
    const [ofOthers, own] = [join(folder, "others.key"), join(folder, "own.key")];
    await writeFile(ofOthers, printKeys([newest, older]));
    await writeFile(own, printKeys([older]));
    const sealing = createSealing(readSecretKeys(ofOthers), "WEBHOOKS");
    const store = await createJetStreamWebhookStore(connection, bucketSettings(nats), sealing);
    const { webhooks } = await store.change("acme", withSecret);
    const config = {
      natsPrefix: nats.prefix,
      streamReplicas: 1,
      secretsKeyFile: own,
      webhooks: { secret: null, allowed: [] },
    };
    const patiently = <Result>(step: () => Promise<Result>): Promise<Result> => step();
    const { secrets } = await webhooksForWork({ config, connection, patiently } as never);
    const failure = await failureOf(secrets.of("acme"));
    expect(failure).to.be.an.instanceOf(Unavailable);
    expect(failure.message).to.include(newest.id);
    await writeFile(own, printKeys([newest, older]));
    expect(await secrets.of("acme")).to.deep.equal(webhooks.secrets);
  });
});
