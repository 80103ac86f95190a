import { appendFile, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { createJetStreamSealStore } from "../../src/seals/jetstream-seal-store.ts";
import { createSealPublisher, type SealDestination } from "../../src/seals/publish-seals.ts";
import { createSealMail, createSealWebhook, publishAgainAfter } from "../../src/seals/seal-destinations.ts";
import { createSealFile, NotASealFile, readPublishedSeals } from "../../src/seals/seal-file.ts";
import type { SealStore } from "../../src/seals/seal-store.ts";
import { verifyLog } from "../../src/seals/verify-log.ts";
import { inClear } from "../../src/secrets/sealing.ts";
import { readNetworks } from "../../src/signed-post/addresses.ts";
import { createSafePost } from "../../src/signed-post/http-safe-post.ts";
import { newSecret } from "../../src/signed-post/secret.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { readMail, textIn } from "../support/read-mail.ts";
import { isSignedBy, type Receiver, startReceiver, withStatus } from "../support/receiver.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openSealingSide, type SealingSide } from "./sealing.ts";

describe("Seals that are published elsewhere", () => {
  let nats: TestNats;
  let side: SealingSide;
  let store: SealStore;
  let reported: unknown[];
  let stops: (() => Promise<void>)[];

  before(async () => {
    nats = await startNats();
  });
  after(() => nats.cleanUp());
  beforeEach(async () => {
    side = await openSealingSide(nats);
    store = await createJetStreamSealStore(side.connection, { prefix: side.prefix, replicas: 1 }, inClear("SEALS"));
    [reported, stops] = [[], []];
  });
  afterEach(async () => {
    for (const stop of stops) await stop();
    await side.close();
  });

  const publish = (...destinations: readonly SealDestination[]): (() => Promise<void>) => {
    const publisher = createSealPublisher(side.sealedLog, destinations, (failure) => reported.push(failure), 20);
    publisher.start();
    stops.push(publisher.stop);
    return publisher.stop;
  };
  const sealsHappen = async (count: number): Promise<void> => {
    const sealer = side.newSealer();
    for (let seal = 0; seal < count; seal += 1) {
      await side.jobHappens();
      await sealer.sealNow();
    }
  };
  const newFile = async (): Promise<string> => join(await temporaryFolder(), "seals.ndjson");
  const linesIn = async (path: string) =>
    (await readFile(path, "utf8"))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));

  describe("to a file", () => {
    it("are lines that are appended, each once, also after a restart; and the log is held against them", async () => {
      const path = await newFile();
      await sealsHappen(3);
      const stop = publish(createSealFile(path));
      await eventually(async () => expect(await linesIn(path)).to.have.length(3));
      await stop();
      publish(createSealFile(path));
      await sealsHappen(1);
      await eventually(async () => expect((await linesIn(path)).map(({ to }) => to)).to.deep.equal([5, 11, 17, 23]));
      const published = await readPublishedSeals(path);
      expect((await verifyLog(side.sealedLog, { keys: [], seals: published })).findings).to.deep.equal([]);
      expect(reported).to.deep.equal([]);
    });

    it("are whole after a crash in the middle of a line, and what is no seal is no trust", async () => {
      const path = await newFile();
      await sealsHappen(2);
      const file = createSealFile(path);
      const stop = publish(file);
      await eventually(async () => expect(await linesIn(path)).to.have.length(2));
      await stop();
      const whole = await readFile(path, "utf8");
      await truncate(path, whole.length - 30);
      expect(await file.position()).to.equal(6);
      publish(file);
      await eventually(async () => expect((await readPublishedSeals(path)).size).to.equal(2));
      expect((await readFile(path, "utf8")).startsWith(whole.slice(0, -30))).to.equal(true);
      await appendFile(path, "nonsense\n");
      await appendFile(path, whole);
      expect(await failureOf(readPublishedSeals(path))).to.be.instanceOf(NotASealFile);
    });

    it("can be read where one of two processes wrote a seal whole, and the other one only its beginning", async () => {
      const path = await newFile();
      await sealsHappen(3);
      const stop = publish(createSealFile(path));
      await eventually(async () => expect(await linesIn(path)).to.have.length(3));
      await stop();
      const [one = "", two = "", three = ""] = (await readFile(path, "utf8")).split("\n");
      for (const torn of [one, two]) {
        await writeFile(path, `${one}\n${two}\n${torn.slice(0, 300)}\n${three}\n`);
        expect((await readPublishedSeals(path)).size).to.equal(3);
      }
      await writeFile(path, `${one}\n${two.slice(0, 300)}\n${three}\n`);
      expect(await failureOf(readPublishedSeals(path))).to.be.instanceOf(NotASealFile);
    });

    it("can be read with the ends of lines that mails have, and with empty lines between them", async () => {
      const path = await newFile();
      await sealsHappen(2);
      const stop = publish(createSealFile(path));
      await eventually(async () => expect(await linesIn(path)).to.have.length(2));
      await stop();
      const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
      await writeFile(path, `\r\n${lines.join("\r\n\r\n")}\r\n`);
      expect((await readPublishedSeals(path)).size).to.equal(2);
    });

    it("that say two things about the same events are no trust", async () => {
      const path = await newFile();
      await sealsHappen(1);
      const stop = publish(createSealFile(path));
      await eventually(async () => expect(await linesIn(path)).to.have.length(1));
      await stop();
      const line = await readFile(path, "utf8");
      await writeFile(path, line + line.replace(/"root":"./, '"root":"0').replace(/"count":\d+/, '"count":1'));
      expect((await failureOf(readPublishedSeals(path))).message).to.include("another seal of events up to 5");
    });
  });

  describe("to a webhook", () => {
    let receiver: Receiver;
    before(async () => {
      receiver = await startReceiver();
    });
    after(() => receiver.stop());

    it("arrive signed and in order, go on after the receiver failed, and do not arrive again from another process", async () => {
      receiver.answers(withStatus(503));
      const secret = newSecret();
      const allowed = readNetworks("127.0.0.0/8").filter((network) => network !== null);
      const webhook = () =>
        createSealWebhook({
          url: receiver.url,
          post: createSafePost({ allowed }),
          secrets: async () => [secret],
          store,
        });
      await sealsHappen(2);
      const stop = publish(webhook());
      await eventually(() => expect(receiver.received.length).to.be.greaterThan(1));
      receiver.answers(withStatus(204));
      await eventually(async () => expect(await store.published("webhook")).to.equal(12));
      await stop();
      const count = receiver.received.length;
      expect(String(reported[0])).to.include("SEAL_WEBHOOK answered 503");
      const taken = receiver.received.slice(-2).map(({ text }) => JSON.parse(text));
      expect(taken.map(({ type, data }) => [type, data.to])).to.deep.equal([
        ["log.sealed", 5],
        ["log.sealed", 11],
      ]);
      expect(receiver.received.every((one) => isSignedBy(secret.text, one))).to.equal(true);
      publish(webhook());
      await sealsHappen(1);
      await eventually(async () => expect(await store.published("webhook")).to.equal(18));
      expect(receiver.received).to.have.length(count + 1);
    });

    it("arrive again from the end of a log on that was put back and accepted", async () => {
      await sealsHappen(2);
      await store.publishedUpTo("webhook", 1_000);
      await store.publishedUpTo("mail", 6);
      await publishAgainAfter(store, (await side.sealedLog.lastSeal())?.sequence ?? 0);
      // A destination that is behind stays where it is.
      expect([await store.published("webhook"), await store.published("mail")]).to.deep.equal([12, 6]);
    });
  });

  describe("to a mail address", () => {
    let mailServer: TestMailServer;
    before(async () => {
      mailServer = await startMailServer();
    });
    after(() => mailServer.stop());

    it("arrive as one mail for all that are new, whose lines are seals to hold the log against", async () => {
      const mailer = createSmtpMailer({
        url: mailServer.url,
        maxConnections: 1,
        timeoutMs: 5000,
        answerTimeoutMs: 5000,
        dkim: null,
      });
      try {
        await sealsHappen(3);
        publish(createSealMail({ to: "audit@example.com", from: "Waybill <waybill@example.org>", mailer, store }));
        await eventually(() => expect(mailServer.mails).to.have.length(1));
        await eventually(async () => expect(await store.published("mail")).to.equal(18));
        const [mail] = mailServer.mails;
        expect(mail?.to).to.deep.equal(["audit@example.com"]);
        const text = textIn(readMail(mail?.raw ?? Buffer.of()), "text/plain") ?? "";
        const path = await newFile();
        await writeFile(
          path,
          `${text
            .split("\n")
            .filter((line) => line.startsWith("{"))
            .join("\n")}\n`,
        );
        const trust = { keys: [], seals: await readPublishedSeals(path) };
        expect(trust.seals.size).to.equal(3);
        expect((await verifyLog(side.sealedLog, trust)).findings).to.deep.equal([]);
      } finally {
        for (const stop of stops) await stop();
        await mailer.close();
      }
    });

    it("come in a mail that no one answers by itself, with a header of ASCII whatever the domain of the sender", async () => {
      const own = { url: mailServer.url, maxConnections: 1, timeoutMs: 5000, answerTimeoutMs: 5000 };
      const mailer = createSmtpMailer(own);
      try {
        await sealsHappen(1);
        publish(createSealMail({ to: "audit@example.com", from: "Waybill <waybill@büro.example>", mailer, store }));
        await eventually(async () => expect(await store.published("mail")).to.be.above(0));
        const [header = ""] = (mailServer.mails.at(-1)?.raw ?? Buffer.of()).toString("latin1").split("\r\n\r\n");
        expect(header).to.match(/^[\r\n -~]*$/);
        expect(header).to.match(/^Message-ID:\s<seal-[0-9a-f]{32}@xn--bro-hoa\.example>$/m);
        expect(header).to.match(/^Auto-Submitted: auto-generated$/m);
      } finally {
        for (const stop of stops) await stop();
        await mailer.close();
      }
    });
  });

  it("hold up neither sealing nor each other while one of them hangs", async () => {
    const path = await newFile();
    const hanging: SealDestination = {
      name: "hangs",
      position: async () => 0,
      publish: () => Promise.reject(new Error("away")),
    };
    publish(hanging, createSealFile(path));
    await sealsHappen(3);
    await eventually(async () => expect(await linesIn(path)).to.have.length(3));
    expect(String(reported[0])).to.include("away");
  });
});
