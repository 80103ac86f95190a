import { expect } from "chai";
import type { Msg } from "nats";
import { v7 as uuid } from "uuid";
import { encodeEntry } from "../../src/event-log/encode-entry.ts";
import { streamName, subjectOf } from "../../src/event-log/subjects.ts";
import { createJetStreamWorkQueue } from "../../src/workers/jetstream-work-queue.ts";
import { eventually } from "../support/eventually.ts";
import { caused, jobQueued } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";

describe("A turn on the queue that cannot be read", () => {
  let nats: TestNats;
  let opened: OpenedLog;

  before(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
  });
  after(async () => {
    await opened?.close();
    await nats?.cleanUp();
  });

  /** What a queue of this release says to NATS about a turn that stands there with other attributes. */
  const answerTo = async (attributes: object): Promise<string> => {
    const answers: string[] = [];
    const listening = opened.connection.nats.subscribe(`$JS.ACK.${streamName(nats.prefix, "JOBS")}.>`, {
      callback: (_, message: Msg) => answers.push(message.string()),
    });
    await opened.connection.nats.flush();
    const job = newJob();
    const turn = JSON.parse(Buffer.from(encodeEntry(job, [caused(uuid(), jobQueued())])).toString())[0];
    const queue = createJetStreamWorkQueue(
      opened.connection,
      { prefix: nats.prefix, type: "email.send", ackWaitMs: 15_000 },
      () => {},
    );
    const close = queue.onArrival(() => {});
    const message = JSON.stringify([{ ...turn, ...attributes }]);
    await opened.connection.nats.jetstream().publish(subjectOf(nats.prefix, job, "queue.normal"), message);
    await eventually(async () => {
      expect(await queue.take(1)).to.deep.equal([]);
      expect(answers).to.have.lengthOf.at.least(1);
    });
    close();
    listening.unsubscribe();
    return answers[0] ?? "";
  };

  it("is handed back to a worker of the newer release that wrote it", async () => {
    expect(await answerTo({ dataschema: "urn:waybill:event:JobQueued:99" })).to.match(/^-NAK \{"delay":\d+\}$/);
  });

  it("is left in the log for good where no release could read it", async () => {
    expect(await answerTo({ data: { run: "first" } })).to.equal("+ACK");
  });
});
