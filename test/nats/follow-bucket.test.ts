import { expect } from "chai";
import type { KV } from "nats";
import { openBucket } from "../../src/nats/bucket.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { type FollowedBucket, followBucket } from "../../src/nats/follow-bucket.ts";
import { eventually } from "../support/eventually.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";

const longMs = 600_000;

describe("A bucket that is followed", () => {
  let nats: TestNats;
  let opened: OpenedLog;
  let bucket: KV;
  let followed: FollowedBucket | null;
  let names: readonly string[];
  const settings = () => ({ prefix: nats.prefix, replicas: 1 });

  beforeEach(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    bucket = await openBucket(opened.connection, "FOLLOWED", settings());
    [followed, names] = [null, []];
  });
  afterEach(async () => {
    await followed?.stop();
    await opened.close();
    await nats.cleanUp();
  });
  /** `read` is called before the names are known; it throws, or says whether all was read. */
  const follow = async (
    knownWithinMs: number,
    read = (): boolean => true,
    report = (failure: unknown): void => expect.fail(String(failure)),
    connection: JetStreamConnection = opened.connection,
  ): Promise<void> => {
    const asked = { bucket: "FOLLOWED", prefix: nats.prefix, knownWithinMs };
    const take = (entries: readonly { readonly name: string }[]): boolean => {
      const isAll = read();
      names = entries.map(({ name }) => name);
      return isAll;
    };
    followed = await followBucket(connection, asked, take, report);
  };

  it("is read whole at first, and at every change at once, however seldom it is asked for", async () => {
    await bucket.put("one", "1");
    await follow(longMs);
    expect(names).to.deep.equal(["one"]);
    await bucket.put("two", "2");
    await eventually(() => expect(names).to.deep.equal(["one", "two"]), 5000);
  });

  it("is read again after a change, as its announcement may come before it is stored", async () => {
    const failures: unknown[] = [];
    let reads = 0;
    const read = (): boolean => {
      reads += 1;
      if (reads === 2) throw new Error("not yet");
      return reads !== 3;
    };
    await follow(longMs, read, (failure) => failures.push(failure));
    await bucket.put("one", "1");
    await eventually(() => expect(names).to.deep.equal(["one"]), 5000);
    expect([reads, failures.length]).to.deep.equal([3, 1]);
    await followed?.refresh();
    await followed?.refresh();
    expect(reads, "not all was read the third time").to.equal(4);
  });

  it("is read a third time where the second reading, half a second after the change, fails too", async () => {
    let fullyStoredAt = 0;
    const read = (): boolean => {
      if (performance.now() < fullyStoredAt) throw new Error("not yet");
      return true;
    };
    await follow(longMs, read, () => {});
    fullyStoredAt = performance.now() + 700;
    await bucket.put("one", "1");
    await eventually(() => expect(names).to.deep.equal(["one"]), 5000);
  });

  it("is read on after a change, however many entries it has, and whole if it changed while the connection was lost", async () => {
    const all = Array.from({ length: 50 }, (_, index) => `entry-${index}`);
    for (const name of all) await bucket.put(name, "1");
    let [asked, isUp, reconnected] = [0, true, (): void => {}];
    const { request } = opened.connection;
    const counting: JetStreamConnection = {
      ...opened.connection,
      isUp: () => isUp,
      request: (...given) => {
        asked += 1;
        return request(...given);
      },
      onReconnect: (heard) => {
        reconnected = heard;
        return () => {};
      },
    };
    await follow(longMs, undefined, () => {}, counting);
    expect(names).to.deep.equal(all);
    const afterwards = [...all.slice(0, 7), ...all.slice(8), "entry-7"];
    asked = 0;
    await bucket.put("entry-7", "2");
    await eventually(() => expect(names).to.deep.equal(afterwards), 5000);
    expect(asked).to.be.lessThan(10);
    await followed?.refresh();
    asked = 0;
    reconnected();
    await followed?.refresh();
    expect(asked, "as it was").to.equal(0);
    // The server may have lost its last messages, and have others in their places.
    isUp = false;
    await bucket.put("entry-8", "2");
    isUp = true;
    reconnected();
    await followed?.refresh();
    expect(asked).to.be.greaterThan(all.length);
    expect(names).to.deep.equal([...afterwards.slice(0, 7), ...afterwards.slice(8), "entry-8"]);
  });

  it("is read again in time where no change was announced, as when it is made anew", async () => {
    await bucket.put("one", "1");
    await follow(1000);
    await bucket.destroy();
    await openBucket(opened.connection, "FOLLOWED", settings());
    await eventually(() => expect(names).to.deep.equal([]), 5000);
  });
});
