import { expect } from "chai";
import { openBucket } from "../../src/nats/bucket.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { bucketSettings, connectTo } from "../support/access.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";

/** NATS 2.9 disturbs about one in sixty of these without the second try. */
const buckets = 250;

describe("A bucket that several processes create at the same moment", () => {
  let nats: OwnNats;
  let connections: JetStreamConnection[];

  before(async () => {
    nats = await startOwnNats();
    connections = await Promise.all([1, 2, 3, 4].map(() => connectTo(nats)));
  });
  after(async () => {
    await Promise.all(connections.map(({ close }) => close()));
    await nats.cleanUp();
  });

  it("is there for each of them", async () => {
    for (let made = 0; made < buckets; made += 1) {
      const opened = await Promise.allSettled(
        connections.map((connection) => openBucket(connection, `B${made}`, bucketSettings(nats))),
      );
      expect(opened.map(({ status }) => status)).to.deep.equal(Array(4).fill("fulfilled"));
    }
  });
});
