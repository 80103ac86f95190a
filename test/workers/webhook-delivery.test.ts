import { expect } from "chai";
import { progressOf } from "../../src/domain/job/job-view.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createDeliveryWork } from "../../src/job-kinds/webhook/delivery-work.ts";
import { readNetworks } from "../../src/signed-post/addresses.ts";
import { createBreakers, isUnanswered } from "../../src/signed-post/breakers.ts";
import { createSafePost } from "../../src/signed-post/http-safe-post.ts";
import { newSecret } from "../../src/signed-post/secret.ts";
import { eventually } from "../support/eventually.ts";
import { now } from "../support/examples.ts";
import { isSignedBy, type Receiver, startReceiver, withStatus } from "../support/receiver.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const secret = newSecret();
const payload = { event: "order.paid", data: { order: 17, greeting: "Hello" } };

describe("one message to many URLs", () => {
  let writeSide: WriteSide;
  let receiver: Receiver;

  beforeEach(async () => {
    [writeSide, receiver] = await Promise.all([startWriteSide(), startReceiver()]);
    writeSide.startScheduler();
  });
  afterEach(async () => {
    await receiver.stop();
    await writeSide.cleanUp();
  });

  const startWorker = (allow = "127.0.0.0/8") =>
    writeSide.startWork(
      createDeliveryWork({
        contentStore: writeSide.contentStore,
        post: createSafePost({ allowed: readNetworks(allow).filter((network) => network !== null) }),
        breakers: createBreakers({ isDown: isUnanswered }),
        secrets: { of: async () => [secret] },
      }),
    );
  const createJob = (paths: readonly string[], settings = {}, content = {}) =>
    writeSide.createJob(
      paths.map((path) => receiver.url + path),
      { type: "webhook.deliver", ...settings },
      { subject: null, html: null, payload, ...content },
    );
  const once = (job: JobRef, status: string) =>
    eventually(async () => {
      const view = await writeSide.readView(job);
      expect(view.status).to.equal(status);
      return view;
    });
  const outcomesOf = async (job: JobRef) =>
    (await writeSide.log.readRecipients(job))
      .map(({ event }) => event)
      .filter(({ type }) => type !== "RecipientsClaimed");
  /** What the scheduler does when the time has come. */
  const beginNextAttempt = (job: JobRef): Promise<void> => writeSide.putTurn(job);

  it("reaches each as a signed POST, with what is said of that recipient over what is said to all", async () => {
    startWorker();
    const recipients = [
      { email: `${receiver.url}/a` },
      { email: `${receiver.url}/b`, variables: { greeting: "Hi Bob", vip: true } },
    ];
    const job = await createJob(["/a", "/b"], {}, { recipients });
    await once(job, "completed");
    const byPath = new Map(receiver.received.map((one) => [one.path, one]));
    const [a, b] = [byPath.get("/a"), byPath.get("/b")];
    if (a === undefined || b === undefined) throw new Error("A receiver was not called.");
    expect(JSON.parse(a.text)).to.deep.equal({ type: "order.paid", timestamp: now, data: payload.data });
    expect(JSON.parse(b.text).data).to.deep.equal({ order: 17, greeting: "Hi Bob", vip: true });
    expect([a, b].every((one) => isSignedBy(secret.text, one))).to.equal(true);
    const outcomes = await outcomesOf(job);
    const ids = outcomes.flatMap((event) => (event.type === "RecipientSent" ? event.data.messageId : []));
    expect(ids).to.have.members([a.headers["webhook-id"], b.headers["webhook-id"]]);
    expect(outcomes.map((event) => event.type === "RecipientSent" && event.data.response)).to.deep.equal([
      "HTTP 204",
      "HTTP 204",
    ]);
    expect(JSON.stringify(await writeSide.log.readHistory(job)), "no URL is in the log").to.not.include(receiver.url);
  });

  it("fails for good where the receiver refuses for good, and is retried unchanged elsewhere", async () => {
    startWorker();
    receiver.answers((response, { path }) => void response.writeHead(path === "/gone" ? 410 : 503).end());
    const job = await createJob(["/gone", "/busy", "/busy-too"], { maxAttempts: 2 });
    const waiting = await once(job, "retrying");
    expect(progressOf(waiting)).to.include({ failed: 1, deferred: 2, sent: 0 });
    expect(waiting.error?.code).to.equal("recipients-deferred");
    const first = receiver.received.find(({ path }) => path === "/busy");

    receiver.answers((response, { path }) => void response.writeHead(path === "/busy" ? 200 : 500).end());
    await beginNextAttempt(job);
    const view = await once(job, "failed");
    expect(view.error?.code).to.equal("too-many-failures");
    expect(progressOf(view)).to.include({ failed: 2, deferred: 0, sent: 1 });
    const [, again] = receiver.received.filter(({ path }) => path === "/busy");
    expect(again?.headers["webhook-id"]).to.equal(first?.headers["webhook-id"]);
    expect(again?.text).to.equal(first?.text);
    expect(receiver.received.filter(({ path }) => path === "/gone")).to.have.lengthOf(1);
    const failed = (await outcomesOf(job)).filter(({ type }) => type === "RecipientFailed");
    expect(failed.map((event) => event.type === "RecipientFailed" && event.data.error)).to.deep.equal([
      { code: "http-status", message: "The receiver answered 410.", replyCode: 410, statusCode: null },
      { code: "attempts-exhausted", message: "The receiver answered 500.", replyCode: 500, statusCode: null },
    ]);
  });

  it("is not tried again before the time that a receiver asks for, but at most an hour later", async () => {
    startWorker();
    receiver.answers(withStatus(429, { "Retry-After": "600" }));
    const soon = await createJob(["/soon"]);
    await once(soon, "retrying");
    receiver.answers(withStatus(503, { "Retry-After": "99999999" }));
    const late = await createJob(["/late"]);
    await once(late, "retrying");
    const delayOf = async (job: JobRef): Promise<number> => {
      const last = (await writeSide.log.readDecisions(job)).at(-1)?.event;
      if (last?.type !== "JobRetryScheduled") throw new Error("It is not to be tried again.");
      return Math.round((Date.parse(last.data.nextAttemptAt) - Date.parse(last.at)) / 60_000);
    };
    expect([await delayOf(soon), await delayOf(late)]).to.deep.equal([10, 60]);
  });

  it("never goes to an address of ours, whatever was thought of it when the job was taken", async () => {
    startWorker("10.0.0.0/8");
    const job = await createJob(["/inside"]);
    const view = await once(job, "failed");
    expect(view.error?.code).to.equal("too-many-failures");
    const [failed] = await outcomesOf(job);
    expect(failed?.type === "RecipientFailed" && failed.data.error.code).to.equal("url-refused");
    expect(receiver.received).to.have.lengthOf(0);
  });

  it("fails without a call where the content is gone", async () => {
    startWorker();
    const job = await createJob(["/a"], { contentSha256: "0".repeat(64) });
    expect((await once(job, "failed")).error?.code).to.equal("content-changed");
    expect(receiver.received).to.have.lengthOf(0);
  });
});
