import { expect } from "chai";
import { type AlertOutcome, type AlertReceiver, createAlertSender } from "../../src/alerts/alert-sender.ts";
import { createMailReceiver } from "../../src/alerts/mail-receiver.ts";
import { createWebhookReceiver } from "../../src/alerts/webhook-receiver.ts";
import type { AlertEvent } from "../../src/domain/alerts/events.ts";
import { alertsRef } from "../../src/event-log/event-log.ts";
import type { Listening } from "../../src/event-log/following/active-process.ts";
import { createJetStreamCheckpointStore } from "../../src/event-log/following/jetstream-checkpoint-store.ts";
import { createListening } from "../../src/event-log/following/listener.ts";
import { withBreaker } from "../../src/mail/breaker.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { readNetworks } from "../../src/signed-post/addresses.ts";
import { createSafePost } from "../../src/signed-post/http-safe-post.ts";
import { newSecret } from "../../src/signed-post/secret.ts";
import { eventually } from "../support/eventually.ts";
import { caused } from "../support/examples.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { isSignedBy, type Received, type Receiver, startReceiver, withStatus } from "../support/receiver.ts";
import { startNats, type TestNats } from "../support/services.ts";

const secret = newSecret();
const loopback = readNetworks("127.0.0.0/8").filter((network) => network !== null);
const figure = { alert: "failure-rate", value: 0.125, threshold: 0.05, windowSeconds: 900, about: null } as const;
const raised = (at = new Date().toISOString()): AlertEvent => ({ type: "AlertRaised", at, data: figure });

describe("An operator", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let opened: OpenedLog;
  let prefix: string;
  let receiver: Receiver;
  let mailServer: TestMailServer;
  let last: number;
  let foundUpTo: number | null;
  let attempts: string[];
  let stops: (() => Promise<void>)[];

  before(async () => {
    nats = await startNats();
  });
  after(() => nats.cleanUp());
  beforeEach(async () => {
    prefix = `${nats.prefix}${Math.random().toString(36).slice(2, 8)}`;
    [opened, receiver, mailServer] = await Promise.all([
      openJetStreamLog(nats.config, prefix),
      startReceiver(),
      startMailServer(),
    ]);
    [last, foundUpTo] = [0, null];
    attempts = [];
    stops = [];
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
    await Promise.all([receiver.stop(), mailServer.stop()]);
    await opened.close();
  });

  const record = async (event: AlertEvent): Promise<void> => {
    last = await opened.log.append(alertsRef, [caused(`alert-${last}`, event, { actor: "alerts" })], last);
  };
  const webhook = (allowed = loopback): AlertReceiver =>
    createWebhookReceiver(receiver.url, async () => [secret], createSafePost({ allowed }));
  const mail = (to: string): AlertReceiver => {
    const mailer = withBreaker(
      createSmtpMailer({ url: mailServer.url, maxConnections: 1, timeoutMs: 20_000, answerTimeoutMs: 20_000 }),
    );
    stops.push(mailer.close);
    return createMailReceiver(mailer, "Waybill <waybill@example.org>", to);
  };
  const checkpoints = () => createJetStreamCheckpointStore(opened.connection, { prefix, replicas: 1 });
  const startSender = (...receivers: readonly AlertReceiver[]): Listening => {
    const note = ({ kind }: AlertReceiver, telling: AlertOutcome, isLast: boolean): void => {
      attempts.push(`${kind} ${telling.kind}${"code" in telling ? ` ${telling.code}` : ""}${isLast ? "" : ", again"}`);
    };
    const report = (failure: unknown) => attempts.push(String(failure));
    const sender = createListening(
      { log: opened.log, checkpoints: checkpoints(), report },
      createAlertSender(
        receivers,
        foundUpTo ?? last,
        (one, telling, _entry, isLast) => note(one, telling, isLast),
        report,
      ),
    );
    sender.start();
    stops.push(() => sender.stop(1000));
    return sender;
  };
  /** Until the checkpoint says that nothing is left to do. */
  const allDone = (): Promise<void> =>
    eventually(async () => {
      const stored = await checkpoints().read("alerts");
      expect(JSON.parse(stored?.text ?? "{}")).to.have.nested.property("position.sequence", last);
    }, 20_000);

  it("is sent by a signed webhook and by mail, once", async () => {
    startSender(webhook(), mail("ops@example.com"));
    await record(raised());
    await record({
      type: "AlertCleared",
      at: new Date().toISOString(),
      data: { ...figure, value: 0, raisedSequence: 1 },
    });
    await allDone();
    expect([...attempts].sort()).to.deep.equal([
      "mail notified",
      "mail notified",
      "webhook notified",
      "webhook notified",
    ]);
    const [first] = receiver.received as [Received];
    expect(isSignedBy(secret.text, first)).to.equal(true);
    const bodies = receiver.received.map(({ text }) => JSON.parse(text));
    expect(bodies.map(({ type }) => type).sort()).to.deep.equal(["alert.cleared", "alert.raised"]);
    expect(bodies.find(({ type }) => type === "alert.raised").data).to.deep.equal({
      ...figure,
      message: "13 % of mails failed in the last 15 min; the limit is 5 %.",
    });
    const mails = mailServer.mails.map(({ raw }) => raw.toString());
    expect(mails.filter((text) => text.includes("Subject: [Waybill] raised: Mails fail"))).to.have.lengthOf(1);
    expect(mails.filter((text) => text.includes("Subject: [Waybill] cleared: Mails fail"))).to.have.lengthOf(1);
    for (const text of mails) expect(text).to.match(/^Auto-Submitted: auto-generated$/m);
  });

  it("is sent again with the same id if its outcome is unknown", async () => {
    receiver.answers(() => {});
    const sender = startSender(webhook());
    await record(raised());
    await eventually(() => expect(receiver.received).to.have.lengthOf(1));
    await sender.stop(1000);
    receiver.answers(withStatus(204));
    startSender(webhook());
    await eventually(() => expect(receiver.received).to.have.lengthOf(2), 20_000);
    const [first, second] = receiver.received;
    expect(second?.headers["webhook-id"]).to.equal(first?.headers["webhook-id"]);
    await allDone();
    expect(attempts).to.deep.equal(["webhook notified"]);
  });

  it("is sent later if the receiver is down, and meanwhile by mail, as are other alerts", async () => {
    receiver.answers(withStatus(503));
    startSender(webhook(), mail("ops@example.com"));
    await record(raised());
    await eventually(() => expect(attempts).to.include("webhook later http-503, again"));
    await eventually(() => expect(mailServer.mails).to.have.lengthOf(1));
    receiver.answers(withStatus(204));
    await record(raised());
    await eventually(() => expect(attempts.filter((one) => one === "webhook notified")).to.have.lengthOf(2), 20_000);
    await allDone();
    expect(mailServer.mails).to.have.lengthOf(2);
  });

  it("is not called at an address of ours, nor for ever", async () => {
    startSender(webhook([]), mail("nobody@example.com"));
    mailServer.answerRecipient("nobody@example.com", { code: 550, text: "5.1.1 no such user" });
    await record(raised());
    await allDone();
    expect([...attempts].sort()).to.deep.equal(["mail never rejected", "webhook never url-refused"]);
    expect(receiver.received).to.deep.equal([]);
  });

  it("is sent where the clock of the process that found it was days behind", async () => {
    startSender(webhook());
    await allDone();
    await record(raised(new Date(Date.now() - 172_800_000).toISOString()));
    await allDone();
    expect(receiver.received).to.have.lengthOf(1);
  });

  it("is not sent long after it happened, when there is no checkpoint", async () => {
    await record(raised(new Date(Date.now() - 86_400_000).toISOString()));
    // As in a process that ran already when the checkpoint was lost.
    foundUpTo = 0;
    startSender(webhook());
    await allDone();
    expect(receiver.received).to.deep.equal([]);
  });
});
