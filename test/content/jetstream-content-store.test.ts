import { expect } from "chai";
import {
  ErrorCode,
  headers,
  type JetStreamClient,
  type JetStreamManager,
  type JetStreamOptions,
  NatsError,
} from "nats";
import { v7 as uuid } from "uuid";
import type { ContentStore } from "../../src/content/content-store.ts";
import { digestOf } from "../../src/content/encode-content.ts";
import { createJetStreamAttachmentStore } from "../../src/content/jetstream-attachment-store.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { messageAt } from "../../src/nats/jetstream-api.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";
import { unhinderedMs } from "../support/unhindered.ts";
import { attachmentStoreContract, contentStoreContract } from "./content-store-contract.ts";

describe("the content store in JetStream", () => {
  let nats: OwnNats;
  let opened: OpenedLog;
  let store: ContentStore;

  before(async () => {
    nats = await startOwnNats();
    opened = await openJetStreamLog(nats.config, nats.prefix);
    store = await createJetStreamContentStore(opened.connection, nats.prefix);
  });

  after(async () => {
    await opened.close();
    await nats.cleanUp();
  });

  contentStoreContract(() => store);
  attachmentStoreContract(() => store);

  it("has each content also where the stream allows no direct answers, until the next start allows them", async () => {
    const manager = await opened.connection.nats.jetstreamManager();
    const name = `${nats.prefix}_CONTENT`;
    const configOf = async () => (await manager.streams.info(name)).config;
    const job = { tenant: "default", jobId: uuid() };
    await store.put(job, Buffer.from("kept"));
    await manager.streams.update(name, { ...(await configOf()), allow_direct: false });
    const other = await createJetStreamContentStore(opened.connection, nats.prefix);
    expect(Buffer.from((await other.get(job)) ?? []).toString()).to.equal("kept");
    expect(await other.get({ ...job, jobId: uuid() })).to.equal(null);
    await (await openJetStreamLog(nats.config, nats.prefix)).close();
    expect((await configOf()).allow_direct).to.equal(true);
    expect(Buffer.from((await store.get(job)) ?? []).toString()).to.equal("kept");
  });

  const storeAttachment = async () => {
    const job = { tenant: "default", jobId: uuid() };
    const bytes = Buffer.alloc(700_000, "attached");
    await store.attachments.put(job, digestOf(bytes), bytes);
    const manager = await opened.connection.nats.jetstreamManager();
    return { job, sha256: digestOf(bytes), bytes, manager };
  };
  const bucket = (): string => `OBJ_${nats.prefix}_ATTACHMENTS`;
  const messagesIn = async (manager: JetStreamManager) => (await manager.streams.info(bucket())).state.messages;

  it("stores an attachment once, however often it is told to", async () => {
    const { job, sha256, bytes, manager } = await storeAttachment();
    const before = await messagesIn(manager);
    await Promise.all([1, 2, 3].map(() => store.attachments.put(job, sha256, bytes)));
    expect(await messagesIn(manager)).to.equal(before);
  });

  it("leaves an attachment whole where only the answer was lost: another request may have found it", async () => {
    const unanswered = (jetstream: JetStreamClient): JetStreamClient => {
      const publish: JetStreamClient["publish"] = async (subject, ...more) => {
        const answer = await jetstream.publish(subject, ...more);
        if (subject.includes(".M.")) throw new NatsError("TIMEOUT", ErrorCode.Timeout);
        return answer;
      };
      return new Proxy(jetstream, { get: (its, name) => (name === "publish" ? publish : Reflect.get(its, name)) });
    };
    const deaf = new Proxy(opened.connection.nats, {
      get: (its, name) =>
        name === "jetstream"
          ? (options?: JetStreamOptions) => unanswered(its.jetstream(options))
          : Reflect.get(its, name),
    });
    const connection = { ...opened.connection, nats: deaf };
    const attachments = createJetStreamAttachmentStore(connection, { prefix: nats.prefix, replicas: 1 });
    const [job, bytes] = [{ tenant: "default", jobId: uuid() }, Buffer.from("attached")];
    expect(await failureOf(attachments.put(job, digestOf(bytes), bytes))).to.be.instanceOf(Unavailable);
    expect(await store.attachments.get(job, digestOf(bytes))).to.deep.equal(bytes);
  });

  it("has no attachment of which a piece is gone or another came, and does not wait for it", async () => {
    for (const harm of ["gone", "changed"]) {
      const { job, sha256, manager } = await storeAttachment();
      const { last_seq: last } = (await manager.streams.info(bucket())).state;
      const { subject } = await manager.streams.getMessage(bucket(), { seq: last - 1 });
      await manager.streams.deleteMessage(bucket(), last - 1);
      if (harm === "changed") await opened.connection.nats.jetstream().publish(subject, new Uint8Array(9));
      expect(await store.attachments.get(job, sha256)).to.equal(null);
    }
  });

  it("leaves nothing of an attachment behind that was erased, neither a piece nor its name", async () => {
    const { job, sha256, manager } = await storeAttachment();
    const before = await messagesIn(manager);
    await store.attachments.erase(job, sha256);
    expect(await messagesIn(manager)).to.equal(before - 7);
  });

  it("erases the pieces of an upload that was cut off, which nothing describes", async () => {
    const { job, sha256, manager } = await storeAttachment();
    const before = await messagesIn(manager);
    const { last_seq: last } = (await manager.streams.info(bucket())).state;
    await manager.streams.deleteMessage(bucket(), last);
    await store.attachments.erase(job, sha256);
    expect(await messagesIn(manager)).to.equal(before - 7);
  });

  it("leaves nothing of contents behind that were erased, rewritten before or not", async () => {
    const manager = await opened.connection.nats.jetstreamManager();
    const look = async () => (await manager.streams.info(`${nats.prefix}_CONTENT`, { subjects_filter: ">" })).state;
    const before = await look();
    const jobs = Array.from({ length: 20 }, () => ({ tenant: "default", jobId: uuid() }));
    const text = (word: string) => new TextEncoder().encode(word.repeat(10_000));
    for (const job of jobs) await store.put(job, text("stored"));
    expect((await look()).bytes).to.be.greaterThan(before.bytes + 1_000_000);
    for (const job of jobs.slice(10)) await store.rewrite(job, () => text("rewritten"));
    for (const job of jobs) await store.erase(job);
    const { messages, bytes, subjects } = await look();
    expect({ messages, bytes, subjects }).to.deep.equal({
      messages: before.messages,
      bytes: before.bytes,
      subjects: before.subjects,
    });
  });

  it("erases both contents of a job whose process died while it replaced one", async () => {
    const [job, other] = [
      { tenant: "default", jobId: uuid() },
      { tenant: "default", jobId: uuid() },
    ];
    const manager = await opened.connection.nats.jetstreamManager();
    const last = async () => (await manager.streams.info(`${nats.prefix}_CONTENT`)).state.last_seq;
    await store.put(job, Buffer.from("with an address"));
    const replaced = await last();
    await store.put(other, Buffer.from("between"));
    const more = headers();
    more.set("Waybill-Replaces", String(replaced));
    const subject = `${nats.prefix}.content.default.${job.jobId}`;
    await opened.connection.nats.jetstream().publish(subject, Buffer.from("without"), { headers: more });
    await store.erase(job);
    for (const sequence of [replaced, await last()]) {
      expect(await messageAt(opened.connection, `${nats.prefix}_CONTENT`, sequence)).to.equal(null);
    }
    expect(await store.get(other)).not.to.equal(null);
  });

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
    const [attach, read] = [store.attachments.put, store.attachments.get];
    for (const call of [
      () => store.put(job, new Uint8Array(1)),
      () => store.get(job),
      () => attach(job, "0".repeat(64), new Uint8Array(1)),
      () => read(job, "0".repeat(64)),
    ]) {
      const ms = await unhinderedMs(async () => expect(await failureOf(call())).to.be.instanceOf(Unavailable));
      expect(ms).to.be.lessThan(2000);
    }
    await nats.start();
    const bytes = await eventually(() => store.get(job));
    expect(new TextDecoder().decode(bytes ?? undefined)).to.equal("kept");
  });
});
