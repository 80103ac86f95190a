import { expect } from "chai";
import type { Announcements } from "../../../src/event-log/following/announcements.ts";
import { createJetStreamAnnouncements } from "../../../src/event-log/following/jetstream-announcements.ts";
import { connectJetStream, type JetStreamConnection } from "../../../src/nats/connection.ts";
import { eventually } from "../../support/eventually.ts";
import { type OwnNats, startOwnNats } from "../../support/services.ts";
import { announcementsContract } from "./announcements-contract.ts";

describe("announcements over NATS", () => {
  let nats: OwnNats;
  let connection: JetStreamConnection;
  let other: JetStreamConnection;
  let announcements: Announcements;

  before(async () => {
    nats = await startOwnNats();
    connection = await connectJetStream(nats.config, "test", () => {});
    other = await connectJetStream(nats.config, "test", () => {});
    announcements = createJetStreamAnnouncements(connection, nats.prefix);
  });

  after(async () => {
    await other.close();
    await connection.close();
    await nats.cleanUp();
  });

  announcementsContract(() => announcements);

  /** Repeats it until it arrives: a listener that began a moment ago may miss the first. */
  const isHeard = async (from: Announcements, by: Announcements): Promise<void> => {
    let heard = 0;
    const stop = by.listen("jobs", (sequence) => {
      heard = sequence;
    });
    await eventually(() => {
      from.announce("jobs", 42);
      expect(heard).to.equal(42);
    });
    stop();
  };

  it("are heard in another process", async () => {
    await isHeard(announcements, createJetStreamAnnouncements(other, nats.prefix));
  });

  it("are not heard under another prefix", async () => {
    const heard: number[] = [];
    const stop = createJetStreamAnnouncements(connection, `${nats.prefix}b`).listen("jobs", (sequence) =>
      heard.push(sequence),
    );
    await isHeard(announcements, announcements);
    expect(heard).to.deep.equal([]);
    stop();
  });

  it("cause no failure while NATS is away, and arrive again once it is back", async () => {
    const away = createJetStreamAnnouncements(other, nats.prefix);
    await nats.stop();
    await eventually(() => expect([connection.isUp(), other.isUp()]).to.deep.equal([false, false]));
    announcements.announce("jobs", 41);
    const stop = away.listen("jobs", () => {});
    await nats.start();
    await isHeard(announcements, away);
    stop();
  });
});
