import { expect } from "chai";
import { ensureStreams } from "../../src/event-log/jetstream-streams.ts";
import { streamName } from "../../src/event-log/subjects.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { createJetStreamSuppressionEntries } from "../../src/suppressions/jetstream-suppression-entries.ts";
import { createJetStreamSuppressionStore } from "../../src/suppressions/jetstream-suppression-store.ts";
import { createSuppressedDigests } from "../../src/suppressions/suppressed-digests.ts";
import type { SuppressionStore } from "../../src/suppressions/suppression-store.ts";
import { connectTo } from "../support/access.ts";
import { eventually } from "../support/eventually.ts";
import { now } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";

function digestOf(index: number): string {
  const bytes = Buffer.alloc(16, 7);
  bytes.writeUInt32LE(index);
  return bytes.toString("base64url");
}

describe("the suppressed digests that a worker knows", () => {
  let nats: OwnNats;
  let connection: JetStreamConnection;
  let store: SuppressionStore;
  const stops: (() => void)[] = [];

  before(async () => {
    nats = await startOwnNats();
    connection = await connectTo(nats);
  });
  beforeEach(async () => {
    await ensureStreams(connection, { prefix: nats.prefix, replicas: 1, maxBytes: null });
    store = createJetStreamSuppressionStore(connection, nats.prefix);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) stop();
    await (await connection.nats.jetstreamManager()).streams.delete(streamName(nats.prefix, "SUPPRESSIONS"));
  });
  after(async () => {
    await connection.close();
    await nats.cleanUp();
  });

  const put = async (digest: string, tenant = "acme"): Promise<void> => {
    await store.put({ tenant, digest }, { email: "ada@example.com", reason: "manual", createdAt: now });
  };
  /** With `isDeaf`, announcements are lost. */
  const open = (isDeaf = false) => {
    const entries = createJetStreamSuppressionEntries(connection, nats.prefix);
    const digests = createSuppressedDigests(isDeaf ? { ...entries, onEntry: () => () => {} } : entries);
    stops.push(digests.stop);
    return digests;
  };

  it("are all that were there before, of every tenant, however many batches they take", async () => {
    await store.secret();
    for (let first = 0; first < 5000; first += 100) {
      const some = Array.from({ length: 100 }, (_, index) => first + index);
      await Promise.all(some.map((index) => put(digestOf(index), index % 2 ? "acme" : "shop")));
    }
    const digests = open();
    await digests.upToDate();
    expect(digests.size()).to.equal(5000);
    expect(digests.mayHave(digestOf(4999))).to.equal(true);
    expect(digests.mayHave(digestOf(5000))).to.equal(false);
  });

  it("are empty if no address was ever suppressed", async () => {
    const digests = open();
    await digests.upToDate();
    expect(digests.size()).to.equal(0);
  });

  it("have a new one the moment that it is written, without being asked", async () => {
    const digests = open();
    await digests.upToDate();
    await put(digestOf(1));
    await eventually(() => expect(digests.mayHave(digestOf(1))).to.equal(true));
  });

  it("have a new one within the promised second even if its announcement was lost", async () => {
    const digests = open(true);
    await digests.upToDate();
    await put(digestOf(1));
    const writtenAt = performance.now();
    await eventually(async () => {
      await digests.upToDate();
      expect(digests.mayHave(digestOf(1))).to.equal(true);
    });
    expect(performance.now() - writtenAt).to.be.lessThan(5000);
  });

  it("come to the end of lists of which the last one was taken off again", async () => {
    await put(digestOf(1));
    await put(digestOf(2));
    await store.remove({ tenant: "acme", digest: digestOf(2) }, now);
    const digests = open();
    await digests.upToDate();
    // The list keeps that the second one was removed, and a match is looked up.
    expect([1, 2, 3].map((one) => digests.mayHave(digestOf(one)))).to.deep.equal([true, true, false]);
    await put(digestOf(3));
    await store.remove({ tenant: "acme", digest: digestOf(3) }, now);
    await eventually(async () => await digests.upToDate());
  });

  it("begin anew where the lists did", async () => {
    await put(digestOf(1));
    const digests = open(true);
    await digests.upToDate();
    await (await connection.nats.jetstreamManager()).streams.delete(streamName(nats.prefix, "SUPPRESSIONS"));
    await ensureStreams(connection, { prefix: nats.prefix, replicas: 1, maxBytes: null });
    await put(digestOf(2));
    await eventually(async () => {
      await digests.upToDate();
      expect(digests.mayHave(digestOf(2))).to.equal(true);
    });
    expect(digests.mayHave(digestOf(1))).to.equal(false);
  });

  it("admit no mail while NATS is down, and go on when it is back", async () => {
    const digests = open();
    await digests.upToDate();
    await nats.stop();
    await eventually(async () => expect((await failureOf(digests.upToDate())).name).to.equal("Unavailable"));
    await nats.start();
    await eventually(async () => await digests.upToDate());
    await put(digestOf(1));
    await eventually(() => expect(digests.mayHave(digestOf(1))).to.equal(true));
  });
});
