import { expect } from "chai";
import { readPending } from "../../src/nats/consumers.ts";
import { deliveryOf } from "../../src/nats/message.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";

const stored = [1, 2, 3, 4];

describe("Reading what a stream holds while messages are removed from it", () => {
  let nats: TestNats;
  let opened: OpenedLog;

  beforeEach(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    const jetstream = opened.connection.nats.jetstream();
    for (const message of stored) await jetstream.publish(`${nats.prefix}.content.default.${message}`);
  });
  afterEach(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  /** The first is read when the others are removed: the server has counted them. */
  const readWithout = async (removed: readonly number[]): Promise<readonly number[]> => {
    const { streams } = await opened.connection.nats.jetstreamManager();
    const stream = `${nats.prefix}_CONTENT`;
    const read: number[] = [];
    for await (const messages of readPending(opened.connection, stream, 0, { batch: 1, end: 4 })) {
      if (read.length === 0) for (const sequence of removed) await streams.deleteMessage(stream, sequence);
      read.push(...messages.map((message) => deliveryOf(message).streamSequence));
    }
    return read;
  };

  for (const removed of [[2], [4], [2, 3, 4]]) {
    it(`comes to its end without ${removed.join(", ")} of ${stored.join(", ")}`, async function () {
      this.timeout(10_000);
      expect(await readWithout(removed)).to.deep.equal(stored.filter((message) => !removed.includes(message)));
    });
  }
});
