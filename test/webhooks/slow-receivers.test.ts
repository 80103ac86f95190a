import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { WebhookEvent } from "../../src/domain/webhooks/events.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { createSemaphore } from "../../src/process/semaphore.ts";
import { newSecret } from "../../src/signed-post/secret.ts";
import { type DueDelivery, readDeliveries } from "../../src/webhooks/deliveries.ts";
import { createRetrier } from "../../src/webhooks/retrier.ts";
import type { Sender } from "../../src/webhooks/sender.ts";
import { createWebhooks, type Webhooks } from "../../src/webhooks/webhooks.ts";
import { eventually } from "../support/eventually.ts";
import { caused, earlier, jobCompleted, jobCreated, webhookFailed } from "../support/examples.ts";
import { createMemoryCheckpointStore } from "../support/memory/memory-checkpoint-store.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("A tenant whose receiver takes its messages slowly", function () {
  this.timeout(60_000);

  const jobOf = (tenant: string, number: number): JobRef => ({ tenant, jobId: `${tenant}-${number}` });
  const end = async (log: EventLog, job: JobRef): Promise<void> => {
    await log.append(job, [caused(`${job.jobId}/created`, jobCreated())], 0);
    await log.append(job, [caused(`${job.jobId}/ended`, jobCompleted())], await log.lastDecision(job));
  };

  describe("and of which many jobs end", () => {
    const log = createMemoryEventLog();
    const calls: string[] = [];
    let webhooks: Webhooks;

    before(async () => {
      for (let number = 0; number < 400; number += 1) await end(log, jobOf("slow", number));
      const endpoint = { url: "https://receiver.example/", secrets: [newSecret()] };
      webhooks = createWebhooks(
        {
          log,
          followed: log,
          checkpoints: createMemoryCheckpointStore(),
          contentStore: createMemoryContentStore(),
          due: { take: async () => [] },
          receivers: {
            endpointsFor: async () => ["e"],
            find: async ({ tenant }) => ({ ...endpoint, url: `https://${tenant}.example/`, name: tenant }),
          },
          post: async ({ url, signal }) => {
            calls.push(url);
            if (url.includes("slow")) await pause(60_000, null, { signal }).catch(() => {});
            return { kind: "answered", statusCode: 200, retryAfterMs: null };
          },
          show: () => ({}),
          showMailing: () => ({}),
        },
        () => {},
      );
      webhooks.start();
      await eventually(() => expect(calls).to.have.lengthOf(16));
    });
    after(() => webhooks.stop(0));

    it("holds up the messages of no other tenant, and has its own put off beyond a share", async () => {
      await end(log, jobOf("other", 0));
      await eventually(() => expect(calls).to.include("https://other.example/"), 10_000);
      const last = await eventually(async () => {
        const [one] = await readDeliveries(log, jobOf("slow", 399));
        expect(one?.event.type).to.equal("WebhookFailed");
        return one;
      });
      const event = last?.event as Extract<WebhookEvent, { type: "WebhookFailed" }>;
      const { data } = event;
      expect(data).to.deep.include({ attempt: 1, statusCode: null });
      expect(data.error.code).to.equal("receivers-slow");
      expect(Date.parse(data.nextAttemptAt ?? "")).to.be.greaterThan(Date.now());
      expect(await readDeliveries(log, jobOf("slow", 31))).to.deep.equal([]);
      expect(calls).to.have.lengthOf(17);
    });
  });

  it("holds up the later attempts of no other, and has its own let go of before another process makes them", async () => {
    const log = createMemoryEventLog();
    const rows: DueDelivery[] = [];
    for (const job of [...Array.from({ length: 200 }, (_, number) => jobOf("slow", number)), jobOf("other", 0)]) {
      await end(log, job);
      const deliveryId = `delivery-${job.jobId}`;
      await log.record(job, [caused(`${job.jobId}/failed`, webhookFailed({ deliveryId, nextAttemptAt: earlier }))]);
      rows.push({ ...job, deliveryId });
    }
    const patiences: number[] = [];
    let isOtherSent = false;
    const sender: Sender = {
      send: async ({ job }, _signal, patienceMs) => {
        if (job.tenant === "other") isOtherSent = true;
        else patiences.push(patienceMs);
        if (job.tenant === "slow") await pause(patienceMs);
        return job.tenant === "other";
      },
      putOff: () => Promise.reject(new Error("It waits in the table already.")),
    };
    const semaphore = createSemaphore(64);
    const limits = { shareOfTenant: 32, slowMs: 300, turnMs: 2000 };
    const retry = createRetrier(
      log,
      { take: async (limit) => rows.splice(0, limit) },
      sender,
      semaphore,
      (failure) => expect.fail(String(failure)),
      limits,
    );
    const loop = retry();
    await eventually(() => expect(isOtherSent).to.equal(true), 10_000);
    await semaphore.stop(0);
    await loop;
    expect(Math.max(...patiences)).to.equal(2000);
    expect(patiences.filter((patienceMs) => patienceMs === 2000)).to.have.lengthOf(32);
  });
});
