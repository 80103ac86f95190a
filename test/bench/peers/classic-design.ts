import mysql, { type Connection, type ResultSetHeader } from "mysql2/promise";
import { createTransport, type Transporter } from "nodemailer";
import { answerOrders } from "../answer-orders.ts";
import { body, recipients, sender, subject } from "../the-mail.ts";

export type ClassicOrder = {
  readonly mysqlUrl: string;
  /** Null: everything is written down and nothing is sent. */
  readonly port: number | null;
  readonly jobs: number;
  readonly recipientsPerJob: number;
};

const tables = [
  `CREATE TABLE IF NOT EXISTS classic_jobs (
    id BIGINT AUTO_INCREMENT PRIMARY KEY, subject VARCHAR(200) NOT NULL, body MEDIUMTEXT NOT NULL,
    recipients MEDIUMTEXT NOT NULL, status VARCHAR(16) NOT NULL, total INT NOT NULL, sent INT NOT NULL DEFAULT 0,
    created_at DATETIME(3) NOT NULL, completed_at DATETIME(3) NULL, KEY by_status (status))`,
  `CREATE TABLE IF NOT EXISTS classic_logs (
    id BIGINT AUTO_INCREMENT PRIMARY KEY, job_id BIGINT NOT NULL, email VARCHAR(320) NOT NULL,
    status VARCHAR(16) NOT NULL, response TEXT NULL, sent_at DATETIME(3) NOT NULL, KEY by_job (job_id))`,
];

let connection: Connection | null = null;
let transport: Transporter | null = null;

async function connectTo(mysqlUrl: string): Promise<Connection> {
  const opened = await mysql.createConnection(mysqlUrl);
  for (const table of tables) await opened.query(table);
  return opened;
}

/** A worker as it is usually written: one mail after the other, each with its log row and its counter. */
answerOrders<ClassicOrder, null>(async ({ mysqlUrl, port, jobs, recipientsPerJob }) => {
  connection ??= await connectTo(mysqlUrl);
  if (port !== null) transport ??= createTransport({ host: "127.0.0.1", port, pool: true, maxConnections: 10 });
  const sending = port === null ? null : transport;
  for (let job = 0; job < jobs; job += 1) await runJob(connection, sending, recipients(recipientsPerJob));
  return null;
});

async function runJob(db: Connection, sending: Transporter | null, to: readonly string[]): Promise<void> {
  const [created] = await db.execute<ResultSetHeader>(
    "INSERT INTO classic_jobs (subject, body, recipients, status, total, created_at) VALUES (?, ?, ?, 'processing', ?, ?)",
    [subject, body, JSON.stringify(to), to.length, new Date()],
  );
  for (const email of to) {
    const sent = await sending?.sendMail({ from: sender, to: email, subject, text: body });
    await db.execute(
      "INSERT INTO classic_logs (job_id, email, status, response, sent_at) VALUES (?, ?, 'success', ?, ?)",
      [created.insertId, email, sent?.response ?? "250 2.0.0 Ok", new Date()],
    );
    await db.execute("UPDATE classic_jobs SET sent = sent + 1 WHERE id = ?", [created.insertId]);
  }
  await db.execute("UPDATE classic_jobs SET status = 'completed', completed_at = ? WHERE id = ?", [
    new Date(),
    created.insertId,
  ]);
}
