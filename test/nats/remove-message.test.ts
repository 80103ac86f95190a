import { expect } from "chai";
import type { Msg } from "nats";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { messageAt, removeMessage } from "../../src/nats/jetstream-api.ts";
import { failureOf } from "../support/failure-of.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";

describe("The removal of a message", () => {
  let nats: TestNats;
  let opened: OpenedLog;
  let stream: string;
  let sequence: number;

  before(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    stream = `${nats.prefix}_CONTENT`;
  });
  beforeEach(async () => {
    const subject = `${nats.prefix}.content.default.job`;
    sequence = (await opened.connection.nats.jetstream().publish(subject, "with an address")).seq;
  });
  after(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  /** As NATS answers up to 2.12 while it makes a snapshot of the stream, whether or not the message is there. */
  const duringSnapshot = (): OpenedLog["connection"] => ({
    ...opened.connection,
    request: async (subject, ...more) => {
      if (!subject.includes(".MSG.DELETE.")) return await opened.connection.request(subject, ...more);
      const error = { code: 500, err_code: 10057, description: "stream store snapshot in progress" };
      return { data: Buffer.from(JSON.stringify({ error })) } as unknown as Msg;
    },
  });

  it("is none where the message is gone already", async () => {
    await removeMessage(opened.connection, stream, sequence);
    expect(await messageAt(opened.connection, stream, sequence)).to.equal(null);
    await removeMessage(opened.connection, stream, sequence);
    await removeMessage(opened.connection, stream, sequence + 1000);
    await removeMessage(duringSnapshot(), stream, sequence);
  });

  it("is to be repeated where NATS refuses it because it makes a snapshot", async () => {
    expect(await failureOf(removeMessage(duringSnapshot(), stream, sequence))).to.be.instanceOf(Unavailable);
    await removeMessage(opened.connection, stream, sequence);
    expect(await messageAt(opened.connection, stream, sequence)).to.equal(null);
  });
});
