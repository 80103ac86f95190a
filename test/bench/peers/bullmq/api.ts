import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Queue } from "bullmq";
import Koa from "koa";
import { answerOrders } from "../../answer-orders.ts";
import { connectionTo, type QueuedMailing, queueName } from "./queue.ts";

export type BullmqApiOrder = { readonly redisPort: number };
export type BullmqApiState = { readonly port: number };

/** POST /jobs as Waybill has it: what is asked is checked, then queued, then answered with 201. */
answerOrders<BullmqApiOrder, BullmqApiState>(async ({ redisPort }) => {
  const queue = new Queue<QueuedMailing>(queueName, {
    connection: connectionTo(redisPort),
    defaultJobOptions: { removeOnComplete: true, attempts: 4, backoff: { type: "exponential", delay: 1000 } },
  });
  await queue.waitUntilReady();
  const app = new Koa();
  app.use(async (context) => {
    const asked: unknown = JSON.parse(await readAll(context.req));
    if (!isMailing(asked)) {
      context.status = 400;
      context.body = { detail: "expected subject, body and recipients" };
      return;
    }
    const { id } = await queue.add("mailing", asked);
    context.status = 201;
    context.body = { jobId: id, status: "pending" };
  });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0 };
});

const mailbox = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

function isMailing(asked: unknown): asked is QueuedMailing {
  if (typeof asked !== "object" || asked === null) return false;
  const { subject, body, recipients } = asked as Record<string, unknown>;
  if (typeof subject !== "string" || typeof body !== "string" || !Array.isArray(recipients)) return false;
  return recipients.length > 0 && recipients.every((to) => typeof to === "string" && mailbox.test(to));
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
