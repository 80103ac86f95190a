import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { WebhookEvent } from "../../src/domain/webhooks/events.ts";
import type { JobRef, StoredEvent } from "../../src/event-log/event-log.ts";
import { jobFromLog } from "../../src/history/job-from-log.ts";
import { toJobAnswer } from "../../src/http/answers/job.ts";
import { createBreakers } from "../../src/signed-post/breakers.ts";
import { withoutEndpoint } from "../../src/webhooks/tenant-webhooks.ts";
import { eventually } from "../support/eventually.ts";
import { later } from "../support/examples.ts";
import { isSignedBy, type Received, type Receiver, startReceiver, withStatus } from "../support/receiver.ts";
import { ownSecret, startWebhookSide, type WebhookSide } from "../support/webhook-side.ts";

describe("A job that has ended, with no database anywhere,", function () {
  this.timeout(120_000);

  let side: WebhookSide;
  let receiver: Receiver;

  beforeEach(async () => {
    [side, receiver] = await Promise.all([startWebhookSide(), startReceiver()]);
  });
  afterEach(async () => {
    await side.cleanUp();
    await receiver.stop();
  });

  const recorded = (job: JobRef, count = 1): Promise<readonly StoredEvent<WebhookEvent>[]> =>
    eventually(async () => {
      const notices = await side.notices(job);
      expect(notices).to.have.lengthOf(count);
      return notices;
    }, 20_000);

  it("is sent to its own webhookUrl, signed, as the API shows it", async () => {
    side.start(null);
    const job = await side.endedJob(`${receiver.url}/mine?token=t0ps3cret`);
    const [notice] = await recorded(job);
    const [message] = receiver.received as [Received];
    expect(message.path).to.equal("/mine?token=t0ps3cret");
    expect(message.headers).to.include({
      "content-type": "application/json",
      "webhook-id": notice?.event.data.deliveryId,
    });
    expect(isSignedBy(ownSecret, message)).to.equal(true);
    const decisions = await side.writeSide.log.readDecisions(job);
    const shown = await jobFromLog(side.writeSide.log, side.writeSide.contentStore, job);
    expect(JSON.parse(message.text)).to.deep.equal({
      type: "job.completed",
      timestamp: decisions.at(-1)?.event.at,
      data: shown && JSON.parse(JSON.stringify(toJobAnswer(shown.job, "/api"))),
    });
    expect(notice).to.include({ actor: "webhooks", causationId: decisions.at(-1)?.id });
    expect(notice?.event).to.deep.include({ type: "WebhookDelivered" });
    expect(JSON.stringify(notice)).not.to.match(/t0ps3cret|127\.0\.0\.1|mine/);
  });

  it("is sent to every endpoint with its type, each with a secret and an id of its own", async () => {
    side.start(null);
    const one = await side.addEndpoint(`${receiver.url}/one`);
    const other = await side.addEndpoint(`${receiver.url}/other`);
    await side.addEndpoint(`${receiver.url}/failures`, { types: ["job.failed"] });
    await side.addEndpoint(`${receiver.url}/too-late`, { createdAt: later });
    await recorded(await side.endedJob(null), 2);
    expect(receiver.received.map(({ path }) => path)).to.have.members(["/one", "/other"]);
    for (const { path, secrets } of [
      { path: "/one", ...one },
      { path: "/other", ...other },
    ]) {
      const message = receiver.received.find((received) => received.path === path) as Received;
      expect(isSignedBy(secrets[0]?.text ?? "", message)).to.equal(true);
      expect(isSignedBy(ownSecret, message)).to.equal(false);
    }
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).to.equal(2);
  });

  it("is sent once by two instances", async () => {
    side.start(null);
    side.start(null);
    const jobs = await Promise.all(Array.from({ length: 20 }, () => side.endedJob(receiver.url)));
    for (const job of jobs) await recorded(job);
    expect(receiver.received).to.have.lengthOf(20);
  });

  for (const { status, final } of [
    { status: 404, final: true },
    { status: 410, final: true },
    { status: 408, final: false },
    { status: 409, final: false },
    { status: 425, final: false },
    { status: 429, final: false },
    { status: 302, final: false },
    { status: 500, final: false },
  ]) {
    it(`${final ? "is never sent again" : "is to be sent again"} if the answer is ${status}`, async () => {
      receiver.answers(withStatus(status, { Location: "http://127.0.0.1:1/", "Retry-After": "600" }));
      side.start(null);
      const [notice] = await recorded(await side.endedJob(receiver.url));
      const event = notice?.event as Extract<WebhookEvent, { type: "WebhookFailed" }>;
      expect(event.data).to.include({ attempt: 1, statusCode: status });
      expect(event.data.error.code).to.equal("http-status");
      if (final) expect(event.data.nextAttemptAt).to.equal(null);
      else expect(Date.parse(event.data.nextAttemptAt ?? "") - Date.parse(event.at)).to.equal(600_000);
      expect(receiver.received).to.have.lengthOf(1);
    });
  }

  it("is not sent if its URL leads to a private address, which no message reveals", async () => {
    side.start(null);
    const [notice] = await recorded(await side.endedJob("https://10.11.12.13/"));
    expect(notice?.event.data).to.deep.include({ statusCode: null, nextAttemptAt: null });
    expect(JSON.stringify(notice)).not.to.include("10.11.12.13");
  });

  it("is sent again with the same id if a crash lost the outcome", async () => {
    const lost = (): Promise<never> => Promise.reject(new Error("it died before it was recorded"));
    const dying = side.start(null, { log: { ...side.writeSide.log, record: lost } });
    const job = await side.endedJob(receiver.url);
    await eventually(() => expect(receiver.received.length).to.be.at.least(1));
    await dying.stop(0);
    side.start(null);
    await recorded(job);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(ids.length).to.be.at.least(2);
    expect(new Set(ids).size).to.equal(1);
  });

  it("is sent once although the log is down when the outcome is to be recorded", async () => {
    let refusals = 3;
    const { log } = side.writeSide;
    side.start(null, {
      log: {
        ...log,
        record: (job, entry) => {
          refusals -= 1;
          return refusals >= 0 ? Promise.reject(new Unavailable("away")) : log.record(job, entry);
        },
      },
    });
    await recorded(await side.endedJob(receiver.url));
    expect(receiver.received).to.have.lengthOf(1);
  });

  it("is sent to others at once while one receiver takes nothing", async () => {
    receiver.answers((response, { path }) => {
      if (path !== "/hangs") response.writeHead(204).end();
    });
    side.start(null);
    await Promise.all(Array.from({ length: 12 }, () => side.endedJob(`${receiver.url}/hangs`)));
    const job = await side.endedJob(`http://localhost:${receiver.port}/well`);
    const [notice] = await recorded(job);
    expect(notice?.event.type).to.equal("WebhookDelivered");
  });

  it("is not sent to a receiver that took none of five others, until its breaker tries again", async () => {
    receiver.answers(withStatus(500));
    // On a busy machine the usual second may pass before the sixth.
    side.start(null, { breakers: createBreakers({ firstWaitMs: 60_000 }) });
    for (let count = 1; count <= 5; count += 1) await recorded(await side.endedJob(receiver.url));
    const [notice] = await recorded(await side.endedJob(receiver.url));
    expect(notice?.event.data).to.deep.include({
      statusCode: null,
      error: { code: "receiver-down", message: "The receiver did not take the messages before this one." },
    });
    expect(receiver.received).to.have.lengthOf(5);
  });

  it("is not sent to an endpoint that was deleted meanwhile", async () => {
    const { id } = await side.addEndpoint(receiver.url);
    const { readNotices } = side.writeSide.log;
    const deleting: typeof readNotices = async (job) => {
      await side.store.change("default", (before) => withoutEndpoint(before, id));
      return readNotices(job);
    };
    side.start(null, { log: { ...side.writeSide.log, readNotices: deleting } });
    const [notice] = await recorded(await side.endedJob(null));
    expect(notice?.event.data).to.deep.include({ nextAttemptAt: null });
    expect(receiver.received).to.deep.equal([]);
  });
});
