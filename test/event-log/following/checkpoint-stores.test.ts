import { expect } from "chai";
import { createJetStreamCheckpointStore } from "../../../src/event-log/following/jetstream-checkpoint-store.ts";
import { eventually } from "../../support/eventually.ts";
import { type OpenedLog, openJetStreamLog } from "../../support/jetstream-log.ts";
import { createMemoryCheckpointStore } from "../../support/memory/memory-checkpoint-store.ts";
import { startNats, type TestNats } from "../../support/services.ts";
import { checkpointStoreContract } from "./checkpoint-store-contract.ts";

describe("the checkpoints in memory", () => {
  const store = createMemoryCheckpointStore();
  checkpointStoreContract(() => store);
});

describe("the checkpoints in JetStream", () => {
  let nats: TestNats;
  let opened: OpenedLog;

  before(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
  });
  after(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  const open = () => createJetStreamCheckpointStore(opened.connection, { prefix: nats.prefix, replicas: 1 });

  checkpointStoreContract(open);

  it("are made anew once someone has deleted their bucket", async () => {
    const store = open();
    await store.write("one", "before", 0);
    const manager = await opened.connection.nats.jetstreamManager();
    await manager.streams.delete(`KV_${nats.prefix}_CHECKPOINTS`);
    await eventually(async () => {
      expect(await store.read("one")).to.equal(null);
      expect(await store.write("one", "after", 0)).to.be.a("number");
    });
    expect(await store.read("one")).to.include({ text: "after" });
  });
});
