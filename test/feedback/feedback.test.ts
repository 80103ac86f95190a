import { createSecretKey } from "node:crypto";
import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { encodeEntry } from "../../src/event-log/encode-entry.ts";
import { Archived } from "../../src/event-log/log-failures.ts";
import { createAttribution } from "../../src/feedback/attribute.ts";
import { createFeedbackListener, recordOrSuppress } from "../../src/feedback/follow-feedback.ts";
import { createJetStreamSoftBounces } from "../../src/feedback/jetstream-soft-bounces.ts";
import { type NewFeedback, recordFeedback } from "../../src/feedback/record-feedback.ts";
import { rememberFeedback } from "../../src/feedback/remember-feedback.ts";
import { subjectOfMail } from "../../src/job-kinds/email/show-mail.ts";
import { createMailTokens } from "../../src/mail/return-path.ts";
import { streamOfBucket } from "../../src/nats/bucket.ts";
import { nameWith } from "../../src/nats/names.ts";
import { createJetStreamSuppressionStore } from "../../src/suppressions/jetstream-suppression-store.ts";
import { createSuppressionList } from "../../src/suppressions/suppression-list.ts";
import { eventually } from "../support/eventually.ts";
import { caused, now, recipientBounced } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { createMemorySuppressionStore } from "../support/memory/memory-suppression-store.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const cause = { actor: "bounces", correlationId: null, causationId: null, traceparent: null };
const addresses = ["ada@example.com", "bob@example.com", "cid@example.com"];

const bounce = (data: Partial<Extract<NewFeedback, { type: "RecipientBounced" }>["data"]> = {}): NewFeedback => {
  const { recipient: _, ...rest } = recipientBounced().data;
  return { type: "RecipientBounced", data: { ...rest, ...data } };
};
const complaint: NewFeedback = {
  type: "RecipientComplained",
  data: { source: "arf", reportSha256: "d".repeat(64), complaint: "abuse" },
};

describe("What comes back about a mail", () => {
  let side: WriteSide;
  before(async () => {
    side = await startWriteSide();
  });
  after(() => side.cleanUp());

  const record = (job: { tenant: string; jobId: string }, recipient: number, feedback: NewFeedback) =>
    recordFeedback({ ...side, subjectTo: subjectOfMail }, { ...job, recipient }, feedback, cause, now);
  const typesOf = async (job: { tenant: string; jobId: string }) =>
    (await side.log.readFeedback(job)).map(({ event }) => [event.type, event.data.recipient]);

  it("is recorded once, however often and at whatever moment it is reported", async () => {
    const job = await side.createJob(addresses);
    const results = await Promise.all(Array.from({ length: 8 }, () => record(job, 1, bounce())));
    expect(results.sort()).to.deep.equal([...Array(7).fill("known"), "recorded"]);
    expect(await record(job, 1, bounce({ reportSha256: "e".repeat(64) }))).to.equal("known");
    expect(await typesOf(job)).to.deep.equal([["RecipientBounced", 1]]);
  });

  it("is to be sent again where only a newer release can read what came back last", async () => {
    const job = await side.createJob(addresses);
    await record(job, 0, bounce());
    const subject = `${side.nats.prefix}.jobs.${job.tenant}.${job.jobId}.feedback`;
    const jetstream = side.connection.nats.jetstream();
    const [known] = JSON.parse(Buffer.from(encodeEntry(job, [caused("praise", recipientBounced())])).toString());
    const praise = { ...known, type: "RecipientPraised", dataschema: "urn:waybill:event:RecipientPraised:1" };
    await jetstream.publish(subject, JSON.stringify([praise]));
    expect(await failureOf(record(job, 1, bounce()))).to.be.an.instanceOf(Unavailable);
    expect(await record(job, 0, bounce())).to.equal("known");
  });

  it("is recorded of several recipients at the same moment", async () => {
    const job = await side.createJob(addresses);
    await Promise.all([record(job, 0, bounce()), record(job, 1, complaint), record(job, 2, bounce())]);
    expect((await typesOf(job)).map(([, recipient]) => recipient).sort()).to.deep.equal([0, 1, 2]);
  });

  it("is news again where a hard bounce follows another one, and not the other way round", async () => {
    const job = await side.createJob(addresses);
    expect(await record(job, 0, bounce({ bounce: "soft" }))).to.equal("recorded");
    expect(await record(job, 0, bounce({ bounce: "unknown" }))).to.equal("known");
    expect(await record(job, 0, bounce({ bounce: "hard" }))).to.equal("recorded");
    expect(await record(job, 0, bounce({ bounce: "soft" }))).to.equal("known");
  });

  it("names no address, nor words of the mail", async () => {
    const job = await side.createJob(addresses);
    await record(job, 0, bounce({ diagnostic: "550 <ada@example.com>: ada is unknown here, re: Your invoice" }));
    const [stored] = await side.log.readFeedback(job);
    expect(JSON.stringify(stored)).to.not.match(/ada|invoice/);
    expect(stored?.event.data).to.have.property("diagnostic").that.includes("is unknown here");
  });

  it("names no words of the mail where its template has them from the recipient", async () => {
    const content = {
      subject: "Your results, {{ name }}",
      template: "liquid" as const,
      recipients: [{ email: "ada@example.com", name: "Miss Lovelace" }],
    };
    const job = await side.createJob(["ada@example.com"], {}, content);
    await record(job, 0, bounce({ diagnostic: "550 5.7.1 Refused, because of: Your results, Miss Lovelace" }));
    const [stored] = await side.log.readFeedback(job);
    expect(stored?.event.data).to.include({ diagnostic: "550 5.7.1 Refused, because of: ***" });
  });

  it("leaves no word of the mail server where the recipient was erased: it is not known which of them to mask", async () => {
    const job = await side.createJob(addresses);
    await side.contentStore.erase(job);
    await record(job, 0, bounce({ diagnostic: "550 5.1.1 ada: user unknown" }));
    const [stored] = await side.log.readFeedback(job);
    expect(stored?.event.data).to.include({ diagnostic: "", statusCode: "5.1.1", replyCode: 550 });
  });

  it("costs one look at the log where it is known: neither the job nor its content is read", async () => {
    const job = await side.createJob(addresses);
    await record(job, 0, bounce());
    const never = async (): Promise<never> => {
      throw new Error("This was not to be read.");
    };
    const ports = {
      log: { ...side.log, readDecisions: never },
      contentStore: { get: never },
      subjectTo: subjectOfMail,
    };
    expect(await recordFeedback(ports, { ...job, recipient: 0 }, bounce(), cause, now)).to.equal("known");
  });

  it("costs as much after many other reports about its job: what is known of them is not read again", async () => {
    const job = await side.createJob(Array.from({ length: 30 }, (_, index) => `r${index}@example.com`));
    let read = 0;
    const log = rememberFeedback({
      ...side.log,
      readFeedback: async (...asked) => {
        const found = await side.log.readFeedback(...asked);
        read += found.length;
        return found;
      },
    });
    const recordHere = (recipient: number) =>
      recordFeedback({ ...side, log, subjectTo: subjectOfMail }, { ...job, recipient }, bounce(), cause, now);
    for (let recipient = 0; recipient < 28; recipient += 1) expect(await recordHere(recipient)).to.equal("recorded");
    expect(read).to.be.below(28 * 4);
    // Another process records some, too.
    expect(await record(job, 28, bounce())).to.equal("recorded");
    expect([await recordHere(28), await recordHere(29), await recordHere(0)]).to.deep.equal([
      "known",
      "recorded",
      "known",
    ]);
    expect(await typesOf(job)).to.have.length(30);
  });

  it("suppresses the address of a complaint and of a hard bounce, though the job is in a file of the archive that is not at hand", async () => {
    const job = await side.createJob(addresses);
    const suppressions = createMemorySuppressionStore();
    const list = createSuppressionList(suppressions);
    const gone = () => Promise.reject(new Archived("log-1-2.waybill", "it is not there"));
    const ports = {
      log: { ...side.log, readFeedback: gone },
      contentStore: side.contentStore,
      subjectTo: subjectOfMail,
      suppressions,
    };
    const take = (recipient: number, feedback: NewFeedback) =>
      recordOrSuppress(ports, { ...job, recipient }, feedback, cause, now);
    expect(await take(0, complaint)).to.equal("recorded");
    expect(await take(1, bounce({ bounce: "hard" }))).to.equal("recorded");
    expect(await failureOf(take(2, bounce({ bounce: "soft" })))).to.be.instanceOf(Archived);
    const found = await Promise.all(addresses.map((address) => list.find(job.tenant, address)));
    expect(found.map((one) => one?.reason)).to.deep.equal(["complaint", "hard-bounce", undefined]);
  });

  it("is about no mail where the job has no such recipient, or does not exist", async () => {
    const job = await side.createJob(addresses);
    expect(await record(job, 3, bounce())).to.equal("no-such-mail");
    expect(await record({ ...job, tenant: "other" }, 0, bounce())).to.equal("no-such-mail");
    expect(await typesOf(job)).to.deep.equal([]);
  });

  describe("that is followed", () => {
    const softBounceLimit = 3;
    let stop: () => Promise<void>;
    before(async () => {
      const { connection, nats, contentStore } = side;
      const settings = { prefix: nats.prefix, replicas: 1 };
      const listening = side.listen(
        createFeedbackListener({
          contentStore,
          suppressions: createJetStreamSuppressionStore(connection, nats.prefix),
          softBounces: await createJetStreamSoftBounces(connection, settings, 30),
          softBounceLimit,
        }),
      );
      listening.start();
      stop = () => listening.stop();
    });
    after(() => stop());

    it("puts the address of a hard bounce and of a complaint on the list of the tenant, with the event", async () => {
      const job = await side.createJob(["eve@example.com", "fay@example.com"], {}, {}, "acme");
      await record(job, 0, bounce());
      await record(job, 1, complaint);
      await eventually(async () => {
        const [bounced, complained] = await side.log.readFeedback(job);
        expect(await side.suppressions.find("acme", "eve@example.com")).to.deep.equal({
          email: "eve@example.com",
          reason: "hard-bounce",
          createdAt: now,
          event: bounced?.id,
        });
        expect(await side.suppressions.find("acme", "fay@example.com")).to.include({
          reason: "complaint",
          event: complained?.id,
        });
      });
      expect(await side.suppressions.find("default", "eve@example.com")).to.equal(null);
    });

    it("puts an address on the list once its mails came back softly too often, and none for less", async () => {
      const softly = async (email: string) => {
        const job = await side.createJob([email]);
        await record(job, 0, bounce({ bounce: "soft", statusCode: "4.2.2" }));
      };
      await softly("gus@example.com");
      await softly("gus@example.com");
      await softly("hal@example.com");
      await softly("hal@example.com");
      await softly("hal@example.com");
      await eventually(async () =>
        expect(await side.suppressions.find("default", "hal@example.com")).to.include({ reason: "soft-bounces" }),
      );
      expect(await side.suppressions.find("default", "gus@example.com")).to.equal(null);
    });

    it("brings back no address whose content was erased", async () => {
      const job = await side.createJob(["ida@example.com"]);
      await side.contentStore.erase(job);
      await record(job, 0, bounce());
      const after = await side.createJob(["jan@example.com"]);
      await record(after, 0, bounce());
      await eventually(async () =>
        expect(await side.suppressions.find("default", "jan@example.com")).to.not.equal(null),
      );
      expect(await side.suppressions.find("default", "ida@example.com")).to.equal(null);
    });
  });

  it("leaves no address where only the answer of the list was lost, and the content was erased by then", async () => {
    const store = createMemorySuppressionStore();
    const job = await side.createJob(["kim@example.com"]);
    await record(job, 0, bounce());
    const [stored] = await side.log.readFeedback(job);
    if (stored === undefined) throw new Error("The bounce was not recorded");
    let isErased = false;
    const listener = createFeedbackListener({
      contentStore: { get: async (job) => (isErased ? null : await side.contentStore.get(job)) },
      suppressions: {
        ...store,
        put: async (...given) => {
          await store.put(...given);
          isErased = true;
          throw new Unavailable("The answer was lost.");
        },
      },
      softBounces: { note: async () => 1 },
      softBounceLimit: 3,
    });
    const signal = new AbortController().signal;
    const act = async () => await listener.act(stored, { stopping: signal, givenUp: signal });
    expect(await failureOf(act())).to.be.instanceOf(Unavailable);
    await act();
    const { suppressions } = await store.page("default", { after: 0, limit: 10 });
    expect(suppressions).to.deep.equal([{ email: null, reason: "hard-bounce", createdAt: now }]);
  });

  it("counts softly for as long as the setting says now, and not as it was when the first one came", async () => {
    const { connection, nats } = side;
    const settings = { prefix: nats.prefix, replicas: 1 };
    const maxAge = async (): Promise<number> => {
      const { streams } = await connection.nats.jetstreamManager({ checkAPI: false });
      const info = await streams.info(streamOfBucket(nameWith(nats.prefix, "SOFT_BOUNCES")));
      return info.config.max_age / 1e9 / 86_400;
    };
    const key = { tenant: "default", digest: "d".repeat(22) };
    const store = await createJetStreamSoftBounces(connection, settings, 30);
    expect(await store.note(key, { id: "one", at: "2026-11-01T00:00:00.000Z" })).to.equal(1);
    expect(await maxAge()).to.equal(30);
    const longer = await createJetStreamSoftBounces(connection, settings, 60);
    expect(await maxAge()).to.equal(60);
    expect(await longer.note(key, { id: "two", at: "2026-12-15T00:00:00.000Z" }), "44 days later").to.equal(2);
    expect(await longer.note(key, { id: "two", at: "2026-12-15T00:00:00.000Z" }), "again").to.equal(2);
  });

  it("is attributed by a token alone, and waits for the read model where the job is not there yet", async () => {
    const tokens = createMailTokens(createSecretKey(Buffer.alloc(32, 1)));
    const job = await side.createJob(addresses);
    const id = { tenant: "acme", jobId: "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f" };
    let asked = 0;
    let isProjected = false;
    const finder = {
      tenantOf: async (jobId: string) => {
        asked += 1;
        return isProjected && jobId === id.jobId ? "acme" : null;
      },
      caughtUp: async (sequence: number) => {
        expect(sequence).to.be.greaterThan(0);
        isProjected = true;
      },
    };
    const attribute = createAttribution(tokens, finder, side.log);
    expect(await attribute(["bounces@b.example.org", `<${job.jobId}@example.org>`])).to.equal(null);
    expect(asked).to.equal(0);
    const path = `bounces+${tokens.of(id)?.(2)}@b.example.org`;
    expect(await attribute(["nobody", path])).to.deep.equal({ ...id, recipient: 2 });
    expect(asked).to.equal(2);
    expect(await attribute([path]), "whose tenant is known by now").to.deep.equal({ ...id, recipient: 2 });
    expect(asked).to.equal(2);
    expect(await attribute([...Array(1000).fill("nobody"), path]), "among more texts than a report has").to.equal(null);
  });
});
