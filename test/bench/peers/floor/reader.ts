import { setTimeout as pause } from "node:timers/promises";
import mysql, { type Pool } from "mysql2/promise";
import type { Msg } from "nats";
import { answerOrders } from "../../answer-orders.ts";
import { inOneTransaction, type Row, type Statement } from "../bullmq/tables.ts";
import type { Content, FloorEvent } from "./entries.ts";
import { connectTo, createAsk, type NatsServer, pull, readLast, streams, subjects } from "./jetstream.ts";

/** The first order starts it; each one waits until so many more jobs are shown as completed. */
export type FloorReaderOrder = NatsServer & { readonly mysqlUrl: string; readonly jobs: number };

const tables = `
CREATE TABLE jobs (
  id CHAR(36) CHARACTER SET ascii NOT NULL, status VARCHAR(16) NOT NULL, subject VARCHAR(200) NOT NULL, total INT NOT NULL,
  sent INT NOT NULL, created_at DATETIME(3) NOT NULL, completed_at DATETIME(3) NULL, last_sequence BIGINT NOT NULL,
  PRIMARY KEY (id), KEY by_creation (created_at, id), KEY by_status_and_creation (status, created_at, id));
CREATE TABLE recipients (
  job_id CHAR(36) CHARACTER SET ascii NOT NULL, recipient SMALLINT NOT NULL, email VARCHAR(320) NOT NULL,
  status VARCHAR(16) NOT NULL, message_id VARCHAR(998) NULL, response TEXT NULL, sent_at DATETIME(3) NOT NULL,
  PRIMARY KEY (job_id, recipient), KEY by_email (email));
CREATE TABLE checkpoint (id INT NOT NULL PRIMARY KEY, sequence BIGINT NOT NULL)`;

const insertJobs = `REPLACE INTO jobs (id, status, subject, total, sent, created_at, completed_at, last_sequence) VALUES ?`;
const insertRecipients =
  "INSERT INTO recipients (job_id, recipient, email, status, message_id, response, sent_at) VALUES ?";
const moveCheckpoint = "REPLACE INTO checkpoint (id, sequence) VALUES ?";

/** What comes within this time after a batch shares the next one. */
const restMs = 10;
const readAhead = 500;

/** A job that has not ended, as of its last event. */
type OpenJob = { readonly content: Content; readonly createdAt: Date };

let completed = 0;
let expected = 0;
let failed: unknown = null;
let look = (): void => {};

/** Reads all entries in order, and writes the rows of each batch with its checkpoint. */
async function follow(pool: Pool, { jobs: _, mysqlUrl: __, ...server }: FloorReaderOrder): Promise<never> {
  const nats = await connectTo(server);
  const ask = createAsk(nats);
  const open = new Map<string, OpenJob>();
  let arrived: Msg[] = [];
  let wake = (): void => {};
  let asked = 0;
  const entries = pull(nats, streams.entries, "reader", (message) => {
    if (message.data.length === 0) return;
    arrived.push(message);
    asked -= 1;
    wake();
  });

  for (;;) {
    entries.more(readAhead - asked);
    asked = readAhead;
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (arrived.length > 0) resolve();
    });
    const batch = arrived.map((message) => ({ message, events: message.json<FloorEvent[]>() }));
    arrived = [];
    const created = batch.flatMap(({ events }) => events.filter(({ type }) => type === "JobCreated"));
    await Promise.all(
      created.map(async ({ subject: jobId, time }) => {
        const content: Content = (await readLast(ask, streams.contents, subjects.contentOf(jobId))).json();
        open.set(jobId, { content, createdAt: new Date(time) });
      }),
    );
    completed += await write(pool, open, batch);
    look();
    await pause(restMs);
  }
}

type Read = { readonly message: Msg; readonly events: readonly FloorEvent[] };

/** Answers how many jobs were completed. */
async function write(pool: Pool, open: Map<string, OpenJob>, batch: readonly Read[]): Promise<number> {
  const jobs = new Map<string, Row>();
  const recipients: Row[] = [];
  const ended: string[] = [];
  let last = 0;
  for (const { message, events } of batch) {
    last = sequenceOf(message);
    for (const { type, subject: jobId, time, data } of events) {
      const job = open.get(jobId);
      if (job === undefined) throw new Error(`${type} is about ${jobId}, which was never created`);
      const { content, createdAt } = job;
      const at = new Date(time);
      const row = (status: string, sent: number, endedAt: Date | null): Row => [
        jobId,
        status,
        content.subject,
        content.recipients.length,
        sent,
        createdAt,
        endedAt,
        last,
      ];
      if (type === "JobCreated") jobs.set(jobId, row("pending", 0, null));
      if (type === "JobStarted") jobs.set(jobId, row("processing", 0, null));
      if (type === "RecipientSent") {
        const { recipient, messageId, response } = data as { recipient: number; messageId: string; response: string };
        recipients.push([jobId, recipient, content.recipients[recipient] ?? "", "sent", messageId, response, at]);
      }
      if (type === "JobCompleted") {
        jobs.set(jobId, row("completed", content.recipients.length, at));
        ended.push(jobId);
      }
    }
  }
  const statements: readonly Statement[] = [
    [insertJobs, [...jobs.values()]],
    [insertRecipients, recipients],
    [moveCheckpoint, [[1, last]]],
  ];
  await inOneTransaction(
    pool,
    statements.filter(([, rows]) => rows.length > 0),
  );
  for (const jobId of ended) open.delete(jobId);
  return ended.length;
}

/** `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>…`: without a domain, as this server has none. */
const sequenceOf = ({ reply }: Msg): number => Number(reply?.split(".")[5]);

let pool: Pool | null = null;

answerOrders<FloorReaderOrder, null>(async (order) => {
  if (pool === null) {
    pool = mysql.createPool({ uri: order.mysqlUrl, connectionLimit: 1, timezone: "Z", multipleStatements: true });
    await pool.query(tables);
    follow(pool, order).catch((failure: unknown) => {
      failed = failure;
      look();
    });
  }
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
