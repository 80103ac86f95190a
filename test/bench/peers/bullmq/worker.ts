import { type Job, Worker } from "bullmq";
import type { Pool } from "mysql2/promise";
import { createTransport, type Transporter } from "nodemailer";
import { answerOrders } from "../../answer-orders.ts";
import { sender } from "../../the-mail.ts";
import { attempts, connectionTo, type QueuedMailing, queueName } from "./queue.ts";
import { createRecord, findOutcomes, type JobState, type Outcome } from "./record-work.ts";
import { openDatabase } from "./tables.ts";

/** The first order starts it; each one asks for so many more jobs to have completed. */
export type BullmqWorkerOrder = {
  readonly redisPort: number;
  readonly mysqlUrl: string;
  readonly smtpPort: number;
  readonly jobs: number;
};

/** As many as Waybill's worker has. */
const connections = 10;
/**
 * Jobs at a time. Of 20, 50 and 100, each in five rounds of 3,000 jobs of one recipient and three of 20 mailings of 1000 on
 * 2 cores: 2,900, 2,850 and 3,200 jobs/s in the last three rounds, 4,700, 5,100 and 4,700 mails/s.
 */
const concurrency = 50;

type Ports = {
  readonly pool: Pool;
  readonly transport: Transporter;
  readonly record: (entry: JobState | Outcome) => Promise<void>;
};

let completed = 0;
let expected = 0;
let failed: Error | null = null;
let look = (): void => {};

async function start({ redisPort, mysqlUrl, smtpPort }: BullmqWorkerOrder): Promise<void> {
  const pool = await openDatabase(mysqlUrl, 2);
  const transport = createTransport({
    host: "127.0.0.1",
    port: smtpPort,
    pool: true,
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
  } as object);
  const ports = { pool, transport, record: createRecord(pool) };
  const worker = new Worker<QueuedMailing>(queueName, (job) => work(job, ports), {
    connection: connectionTo(redisPort),
    concurrency,
  });
  worker.on("completed", () => {
    completed += 1;
    look();
  });
  worker.on("failed", (_, failure) => {
    failed ??= failure;
    look();
  });
  await worker.waitUntilReady();
}

/** As many mails on their way as there are connections; done once its end is stored with all that came before. */
async function work(job: Job<QueuedMailing>, { pool, transport, record }: Ports): Promise<void> {
  const { data, id: jobId = "" } = job;
  const attempt = job.attemptsStarted;
  const all = data.recipients.keys();
  const { left, ...before } = attempt > 1 ? await findOutcomes(pool, jobId) : { left: [...all], sent: 0, failed: 0 };
  const startedAt = new Date();
  const counts = { ...before, pending: 0 };
  const written: Promise<void>[] = [];
  const say = (status: JobState["status"], endedAt: Date | null): void => {
    const { sent, failed } = counts;
    written.push(record({ of: "job", jobId, status, sent, failed, attempt, startedAt, endedAt }));
  };
  say("processing", null);
  let next = 0;
  const send = async (): Promise<void> => {
    for (let recipient = left[next++]; recipient !== undefined; recipient = left[next++]) {
      const email = data.recipients[recipient] ?? "";
      const outcome = await mail(transport, data, email);
      counts[outcome.status] += 1;
      written.push(record({ of: "recipient", jobId, recipient, email, attempt, at: new Date(), ...outcome }));
    }
  };
  await Promise.all(Array.from({ length: Math.min(connections, left.length) }, send));
  const isOver = counts.pending === 0 || job.attemptsMade + 1 >= attempts;
  if (!isOver) say("retrying", null);
  else say(counts.sent > 0 ? "completed" : "failed", new Date());
  await Promise.all(written);
  if (!isOver) throw new Error(`${counts.pending} mails were put off`);
}

/** A refusal with 5yz is for good; whatever else goes wrong may be over soon. */
async function mail(transport: Transporter, { subject, text, html }: QueuedMailing, to: string) {
  try {
    const { response, messageId } = await transport.sendMail({
      from: sender,
      to,
      subject,
      ...(text === null ? {} : { text }),
      ...(html === null ? {} : { html }),
    });
    return { status: "sent", messageId, response: response ?? "" } as const;
  } catch (failure) {
    const { responseCode, message } = failure as Error & { readonly responseCode?: number };
    const isForGood = responseCode !== undefined && responseCode >= 500;
    return { status: isForGood ? "failed" : "pending", messageId: null, response: message } as const;
  }
}

let starting: Promise<void> | null = null;

answerOrders<BullmqWorkerOrder, null>(async (order) => {
  starting ??= start(order);
  await starting;
  expected += order.jobs;
  await new Promise<void>((resolve, reject) => {
    look = () => {
      if (failed !== null) reject(failed);
      else if (completed >= expected) resolve();
    };
    look();
  });
  return null;
});
