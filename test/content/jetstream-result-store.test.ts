import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { createJetStreamResultStore } from "../../src/content/jetstream-result-store.ts";
import { type ResultStore, ResultStoreFull } from "../../src/content/result-store.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { chunkOf, newResult, resultStoreContract } from "./result-store-contract.ts";

describe("the store of results in JetStream", () => {
  let folder: string;
  let nats: OwnNats;
  let opened: OpenedLog;
  let store: ResultStore;

  const settings = () => ({ prefix: nats.prefix, replicas: 1 });

  before(async () => {
    folder = await temporaryFolder();
    nats = await startOwnNats(folder);
    opened = await openJetStreamLog(nats.config, nats.prefix);
    store = createJetStreamResultStore(opened.connection, settings());
  });
  after(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  resultStoreContract(() => store);

  /** Every byte that the server has on its disk. */
  async function isOnDisk(text: string): Promise<boolean> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const contents = await Promise.all(files.map((file) => readFile(file).catch(() => Buffer.alloc(0))));
    return contents.some((bytes) => bytes.includes(text));
  }

  it("leaves no byte on the disk of what was erased", async () => {
    // A server that goes on may be anywhere, and its disk with it.
    const result = newResult();
    await store.put(result, 0, chunkOf("somebody-to-forget@example.com"));
    if (process.env["TEST_NATS_URL"] === undefined) {
      await eventually(async () => expect(await isOnDisk("somebody-to-forget@")).to.equal(true));
    }
    await store.erase(result, 0);
    await eventually(async () => expect(await isOnDisk("somebody-to-forget@")).to.equal(false));
  });

  it("says so where there is no room", async () => {
    const manager = await opened.connection.nats.jetstreamManager();
    const stream = `${nats.prefix}_RESULTS`;
    const { state, config } = await manager.streams.info(stream);
    await manager.streams.update(stream, { ...config, max_bytes: state.bytes + 1000 });
    expect(await failureOf(store.put(newResult(), 0, chunkOf("x".repeat(5000))))).to.be.instanceOf(ResultStoreFull);
    await manager.streams.update(stream, { ...config, max_bytes: -1 });
  });

  it("is found by another process, and after NATS was away", async () => {
    const [result, other] = [newResult(), createJetStreamResultStore(opened.connection, settings())];
    await store.put(result, 0, chunkOf("kept"));
    await nats.stop();
    for (const call of [
      () => other.get(result, 0),
      () => other.put(result, 1, chunkOf("no")),
      () => other.erase(result, 0),
    ]) {
      expect(await failureOf(call())).to.be.instanceOf(Unavailable);
    }
    await nats.start();
    const found = await eventually(() => other.get(result, 0));
    expect(Buffer.from(found?.bytes ?? "").toString()).to.equal("kept");
    expect(await other.get(result, 1)).to.equal(null);
  });
});
