import { Queue } from "bullmq";
import { listen } from "../../../../src/http/server/listen.ts";
import { answerOrders } from "../../answer-orders.ts";
import { createAcceptance, type NewJob } from "./accept-jobs.ts";
import { createApp } from "./app.ts";
import { attempts, connectionTo, type QueuedMailing, queueName } from "./queue.ts";
import { createReads } from "./read-jobs.ts";
import { openDatabase } from "./tables.ts";

export type BullmqApiOrder = { readonly redisPort: number; readonly mysqlUrl: string };
export type BullmqApiState = { readonly port: number };

answerOrders<BullmqApiOrder, BullmqApiState>(async ({ redisPort, mysqlUrl }) => {
  const queue = new Queue<QueuedMailing>(queueName, {
    connection: connectionTo(redisPort),
    defaultJobOptions: { removeOnComplete: true, attempts, backoff: { type: "exponential", delay: 1000 } },
  });
  await queue.waitUntilReady();
  const pool = await openDatabase(mysqlUrl, 10);
  // A job that is queued twice, because its key came twice, is there once.
  const enqueue = (jobs: readonly NewJob[]) =>
    queue.addBulk(jobs.map(({ id, mailing }) => ({ name: "mailing", data: mailing, opts: { jobId: id } })));
  const app = createApp(createAcceptance(pool, enqueue), createReads(pool, attempts));
  const { url } = await listen(app, "127.0.0.1", 0);
  return { port: Number(new URL(url).port) };
});
