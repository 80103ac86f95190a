import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { progressOf } from "../../src/domain/job/job-view.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createDeliveryWork } from "../../src/job-kinds/webhook/delivery-work.ts";
import { readNetworks } from "../../src/signed-post/addresses.ts";
import { createBreakers, isUnanswered } from "../../src/signed-post/breakers.ts";
import { createSafePost } from "../../src/signed-post/http-safe-post.ts";
import type { SafePost } from "../../src/signed-post/safe-post.ts";
import { newSecret } from "../../src/signed-post/secret.ts";
import { answersHoldMs } from "../../src/workers/lease.ts";
import { eventually } from "../support/eventually.ts";
import { type Receiver, startReceiver, withStatus } from "../support/receiver.ts";
import { startWriteSide, type WriteSide } from "../support/write-side.ts";

const payload = { event: "order.paid", data: {} };
const urls = 40;
/** Ten are in flight at a time, and five without an answer are enough: the next one may be called before that. */
const mostCalls = 15;

const allowed = readNetworks("127.0.0.0/8").filter((network) => network !== null);
const patient = createSafePost({ allowed });
const hasty = createSafePost({ allowed, timeoutMs: 300 });

describe("A host that is down", () => {
  let writeSide: WriteSide;
  let down: Receiver;
  let well: Receiver;
  let isHanging: (url: string) => boolean;
  /** Of the host that hangs: on a busy machine a call may be given up before the host hears of it. */
  let calls: number;

  beforeEach(async () => {
    isHanging = () => false;
    calls = 0;
    [writeSide, down, well] = await Promise.all([startWriteSide(), startReceiver(), startReceiver()]);
    writeSide.startScheduler();
    writeSide.startWork(
      createDeliveryWork({
        contentStore: writeSide.contentStore,
        post: (request) => {
          if (!isHanging(request.url)) return patient(request);
          calls += 1;
          return hasty(request);
        },
        breakers: createBreakers({ isDown: isUnanswered, firstWaitMs: 600_000, longestWaitMs: 600_000 }),
        secrets: { of: async () => [newSecret()] },
      }),
    );
  });
  afterEach(async () => {
    await Promise.all([down.stop(), well.stop()]);
    await writeSide.cleanUp();
  });

  /** Only a host that never answers times out: on a loaded machine a good answer may take its time. */
  const hang = (): void => {
    isHanging = (url) => url.startsWith(down.url);
    down.answers(() => {});
  };
  const recover = (): void => {
    isHanging = () => false;
    down.answers(withStatus(204));
  };
  const many = (base: string): readonly string[] => Array.from({ length: urls }, (_, index) => `${base}/${index}`);
  const createJob = (all: readonly string[], settings = {}, tenant = "default") =>
    writeSide.createJob(all, { type: "webhook.deliver", ...settings }, { subject: null, html: null, payload }, tenant);
  const reached = (job: JobRef, status: string) =>
    eventually(async () => {
      const view = await writeSide.readView(job);
      expect(view.status).to.equal(status);
      return view;
    }, 20_000);
  /** How many recipients met which trouble. */
  const troublesOf = async (job: JobRef): Promise<Readonly<Record<string, number>>> => {
    const troubles: Record<string, number> = {};
    for (const { event } of await writeSide.log.readRecipients(job)) {
      if (!("error" in event.data)) continue;
      troubles[event.data.error.message] = (troubles[event.data.error.message] ?? 0) + 1;
    }
    return troubles;
  };
  const leftAlone = "The receiver did not take the messages before this one.";

  it("costs some of its URLs their time and not all of them, and those of other hosts nothing", async () => {
    hang();
    const job = await createJob([...many(down.url), `${well.url}/one`, `${well.url}/two`]);
    const view = await reached(job, "retrying");
    expect(progressOf(view)).to.include({ deferred: urls, sent: 2, failed: 0 });
    expect(calls).to.be.within(5, mostCalls);
    const troubles = await troublesOf(job);
    expect(troubles).to.have.all.keys("The receiver did not answer in time.", leftAlone);
    expect(troubles[leftAlone]).to.equal(urls - calls);
  });

  it("is the same where it refuses connections", async () => {
    // No test listens at this address, so that none can take the port.
    const job = await createJob(many("http://127.0.0.9:8099"));
    expect(progressOf(await reached(job, "retrying"))).to.include({ deferred: urls });
    expect((await troublesOf(job))[leftAlone]).to.be.at.least(urls - mostCalls);
  });

  it("is not one whose receivers answer with errors: each of them is asked", async () => {
    down.answers(withStatus(500));
    await reached(await createJob(many(down.url)), "retrying");
    expect(down.received).to.have.lengthOf(urls);
  });

  it("is found out by each tenant alone, as no tenant's jobs are slowed by another's", async () => {
    hang();
    await reached(await createJob(many(down.url)), "retrying");
    recover();
    await reached(await createJob([`${down.url}/shop`], {}, "shop"), "completed");
    const others = await reached(await createJob([`${down.url}/again`]), "retrying");
    expect(progressOf(others)).to.include({ deferred: 1 });
    expect(down.received.map(({ path }) => path)).not.to.include("/again");
  });

  it("is asked all the same on the last attempt: no recipient fails for what another job met", async () => {
    hang();
    await reached(await createJob(many(down.url)), "retrying");
    recover();
    await reached(await createJob([`${down.url}/last`], { maxAttempts: 1 }), "completed");
  });
});

describe("A host that is tried again", () => {
  it("hears no more of a job that was cancelled meanwhile, though calls waited for the one that tries it", async () => {
    const [writeSide, receiver] = await Promise.all([startWriteSide(), startReceiver()]);
    const refusing: SafePost = async () => ({ kind: "unanswered", error: { code: "timed-out", message: "late" } });
    let post = refusing;
    const breakers = createBreakers({ isDown: isUnanswered, firstWaitMs: 1, longestWaitMs: 1 });
    const { contentStore } = writeSide;
    const secrets = { of: async () => [newSecret()] };
    writeSide.startScheduler();
    writeSide.startWork(createDeliveryWork({ contentStore, post: (request) => post(request), breakers, secrets }));
    const create = (count: number) =>
      writeSide.createJob(
        Array.from({ length: count }, (_, index) => `${receiver.url}/${index}`),
        { type: "webhook.deliver" },
        { subject: null, html: null, payload },
      );
    const once = (job: JobRef, status: string) =>
      eventually(async () => expect((await writeSide.readView(job)).status).to.equal(status));
    try {
      await once(await create(5), "retrying");
      const held: ServerResponse[] = [];
      receiver.answers((response) => held.push(response));
      post = patient;
      const job = await create(10);
      await eventually(() => expect(held).to.have.length(1));
      const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
      await pause(answersHoldMs);
      await handleCommand(writeSide.log, job, { type: "CancelJob", at: new Date().toISOString(), reason: null }, cause);
      receiver.answers(withStatus(204));
      held[0]?.writeHead(204).end();
      await eventually(async () =>
        expect((await writeSide.log.readRecipients(job)).some(({ event }) => event.type === "RecipientSent")).to.equal(
          true,
        ),
      );
      await once(job, "cancelled");
      await pause(500);
      expect(receiver.received).to.have.length(1);
    } finally {
      await receiver.stop();
      await writeSide.cleanUp();
    }
  });
});

describe("The breakers before receivers", () => {
  const unanswered = { kind: "unanswered", error: { code: "timed-out", message: "late" } } as const;

  it("drop the host not called for the longest, so that many hosts take no more memory", async () => {
    const breakers = createBreakers({ maxReceivers: 2 });
    const ask = (receiver: string) => breakers.guard(receiver, async () => unanswered);
    for (let count = 1; count <= 5; count += 1) await ask("first");
    expect(await ask("first")).to.equal(null);
    await ask("second");
    expect(await ask("first")).to.equal(null);
    await ask("third");
    await ask("second");
    expect(await ask("first")).to.equal(unanswered);
  });
});
