import { expect } from "chai";
import type { ContentStore } from "../../src/content/content-store.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import { createJetStreamStoredThings } from "../../src/erasure/jetstream-stored-things.ts";
import type { StoredThings } from "../../src/erasure/stored-things.ts";
import { streamName } from "../../src/event-log/subjects.ts";
import { preparePowerCut } from "../nats/power-cut.ts";
import { eventually } from "../support/eventually.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";

const dayMs = 86_400_000;

describe("What is stored beside the log", () => {
  let nats: OwnNats;
  let opened: OpenedLog;
  let contents: ContentStore;
  let things: StoredThings;

  beforeEach(async () => {
    nats = await startOwnNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    contents = await createJetStreamContentStore(opened.connection, nats.prefix);
    things = createJetStreamStoredThings(opened.connection, nats.prefix);
  });
  afterEach(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  const store = async (name: string, count: number): Promise<void> => {
    for (let job = 0; job < count; job += 1) {
      const content = { tenant: "default", jobId: `${name}-${job}` };
      await eventually(() => contents.put(content, Buffer.from("with an address")));
    }
  };
  const sweep = async (): Promise<readonly string[]> => {
    const found = await things.unsettled(Date.now() + 1000);
    for (const thing of found) thing.settle();
    return found.map(({ job }) => job.jobId);
  };
  const unsettled = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const { job } of things.unsettledOf("default")) found.push(job.jobId);
    return found;
  };

  it("is looked at, many at a time, once it is old, though it was too young before", async () => {
    await store("job", 50);
    expect(await things.unsettled(Date.now() - dayMs)).to.deep.equal([]);
    const looks: number[] = [];
    await eventually(async () => {
      const { length } = await sweep();
      if (length > 0) looks.push(length);
      expect(looks.reduce((sum, one) => sum + one)).to.equal(50);
    });
    expect(looks.length).to.be.below(10);
  });

  it("is found after a power cut that took the newest of it, and not what NATS knows of the sweeper", async () => {
    await store("before", 3);
    expect(await sweep()).to.have.length(3);
    const powerCut = await preparePowerCut(nats, streamName(nats.prefix, "CONTENT"));
    if (powerCut === null) return;
    await store("lost", 10);
    expect(await sweep()).to.have.length(10);
    await powerCut();
    await store("new", 2);
    expect(await unsettled()).to.include.members(["new-0", "new-1"]);
    expect(await sweep()).to.include.members(["new-0", "new-1"]);
  });

  it("is found after a power cut also where more was stored since than was lost", async () => {
    await store("before", 3);
    await sweep();
    const powerCut = await preparePowerCut(nats, streamName(nats.prefix, "CONTENT"));
    if (powerCut === null) return;
    await store("lost", 10);
    await sweep();
    await powerCut();
    // The process that was connected sees it, long before it looks at the things again.
    await eventually(async () => {
      const { consumers } = await opened.connection.nats.jetstreamManager({ checkAPI: false, timeout: 500 });
      const { delivered } = await consumers.info(streamName(nats.prefix, "CONTENT"), "sweeper");
      expect(delivered.stream_seq).to.be.at.most(3);
    });
    await store("new", 12);
    expect(await sweep()).to.include.members(["new-0", "new-11"]);
  });
});
