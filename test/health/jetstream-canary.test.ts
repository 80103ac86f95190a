import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { createJetStreamCanary } from "../../src/health/jetstream-canary.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import { startNatsServer } from "../../src/standalone/own-nats-server.ts";
import { failureOf } from "../support/failure-of.ts";
import { locateOwnBinaries } from "../support/own-binaries.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("A canary before the log", () => {
  let nats: TestNats;
  let connection: JetStreamConnection;

  before(async () => {
    nats = await startNats();
    connection = await connectJetStream(nats.config, "test", () => {});
  });
  after(async () => {
    await connection.close();
    await nats.cleanUp();
  });

  const stateOfStream = async () => {
    const manager = await connection.nats.jetstreamManager();
    return (await manager.streams.info(`${nats.prefix}_CANARY_1`)).state;
  };

  it("is stored in a stream of its own, and one takes the place of the other", async () => {
    for (const _ of [1, 2, 3]) await createJetStreamCanary(connection, nats.prefix, 1).check();
    const { messages, last_seq } = await stateOfStream();
    expect([messages, last_seq]).to.deep.equal([1, 3]);
  });

  it("is sent once a second at most, however many ask", async () => {
    const before = (await stateOfStream()).last_seq;
    const canary = createJetStreamCanary(connection, nats.prefix, 1);
    const begunAt = performance.now();
    await Promise.all(Array.from({ length: 50 }, () => canary.check()));
    await canary.check();
    const secondsOver = Math.floor((performance.now() - begunAt) / 1000);
    expect((await stateOfStream()).last_seq).to.be.within(before + 1, before + 1 + secondsOver);
  });

  it("is stored again after its stream was removed", async () => {
    const manager = await connection.nats.jetstreamManager();
    await manager.streams.delete(`${nats.prefix}_CANARY_1`);
    await createJetStreamCanary(connection, nats.prefix, 1).check();
    expect((await stateOfStream()).messages).to.equal(1);
  });
});

describe("A canary before a NATS server that cannot write", function () {
  this.timeout(120_000);

  /** No file of the server may grow beyond a few kilobytes: the same errors as on a full disk, without one. */
  const limited = '#!/bin/bash\ntrap "" XFSZ\nulimit -f 4\nexec "$BINARY" "$@"\n';

  let folder: string;
  let server: Awaited<ReturnType<typeof startNatsServer>>;
  let connection: JetStreamConnection;

  before(async () => {
    folder = await temporaryFolder();
    const { nats } = await locateOwnBinaries();
    const binary = join(folder, "limited-nats-server");
    await writeFile(binary, limited.replace("$BINARY", nats));
    await chmod(binary, 0o755);
    server = await startNatsServer({ dataDir: folder, binary });
    const { port, user, password } = server;
    const settings = { servers: [`127.0.0.1:${port}`], user, password, credsFile: null, caFile: null };
    connection = await connectJetStream(settings, "test", () => {});
  });
  after(async () => {
    // Not by a drain: a server of 2.9 that could not write answers nothing any more.
    await connection.nats.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("finds out that nothing is stored, though the connection stands", async () => {
    const failure = await failureOf(createJetStreamCanary(connection, "", 1).check());
    expect(failure).to.be.instanceOf(Unavailable);
    expect(connection.isUp()).to.equal(true);
  });
});
