import { expect } from "chai";
import { v7 as uuid } from "uuid";
import type { ContentStore } from "../../src/content/content-store.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import { LogUnavailable } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { contentStoreContract } from "./content-store-contract.ts";

describe("the content store in JetStream", () => {
  let nats: TestNats;
  let opened: OpenedLog;
  let store: ContentStore;

  before(async () => {
    nats = await startNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    store = await createJetStreamContentStore(opened.connection, nats.prefix);
  });

  after(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  contentStoreContract(() => store);

  it("stores a content as one message on the job's own subject, apart from the log", async () => {
    const job = { tenant: "default", jobId: uuid() };
    const { lastSequence } = await opened.log.state();
    await store.put(job, new TextEncoder().encode('{"subject":"Your invoice"}'));
    const admin = await opened.connection.nats.jetstreamManager();
    const message = await admin.streams.getMessage(`${nats.prefix}_CONTENT`, {
      last_by_subj: `${nats.prefix}.content.default.${job.jobId}`,
    });
    expect(message.json()).to.deep.equal({ subject: "Your invoice" });
    expect((await opened.log.state()).lastSequence).to.equal(lastSequence);
  });

  it("leaves room in the largest message of the server for the envelope of a content", async () => {
    expect(store.maxBytes).to.be.within(1_000_000, 1_048_576);
  });

  it("says within two seconds that it cannot be reached, and has everything once it is back", async () => {
    const job = { tenant: "default", jobId: uuid() };
    await store.put(job, new TextEncoder().encode("kept"));
    await nats.stop();
    for (const call of [() => store.put(job, new Uint8Array(1)), () => store.get(job)]) {
      const asked = performance.now();
      expect(await failureOf(call())).to.be.instanceOf(LogUnavailable);
      expect(performance.now() - asked).to.be.lessThan(2000);
    }
    await nats.start();
    const bytes = await eventually(() => store.get(job));
    expect(new TextDecoder().decode(bytes ?? undefined)).to.equal("kept");
  });
});
