import { once } from "node:events";
import Koa, { type Context } from "koa";
import mysql, { type Pool, type ResultSetHeader, type RowDataPacket } from "mysql2/promise";
import { answerOrders } from "../answer-orders.ts";
import { readAll } from "./read-all.ts";

export type BareKoaOrder = { readonly mysqlUrl: string };
export type BareKoaState = { readonly port: number };

const pageSize = 20;
const table = `CREATE TABLE IF NOT EXISTS bare_jobs (
  id BIGINT AUTO_INCREMENT PRIMARY KEY, subject VARCHAR(200) NOT NULL, body MEDIUMTEXT NOT NULL,
  recipients MEDIUMTEXT NOT NULL, status VARCHAR(16) NOT NULL, created_at DATETIME(3) NOT NULL)`;

/** No validation, no log, no headers of its own: a select by index on Waybill's table, or one insert, and its JSON. */
answerOrders<BareKoaOrder, BareKoaState>(async ({ mysqlUrl }) => {
  const pool = mysql.createPool({ uri: mysqlUrl, connectionLimit: 10, timezone: "Z" });
  await pool.query(table);
  const app = new Koa();
  app.use(async (context) => {
    if (context.method === "POST") context.body = await create(pool, context);
    else if (context.path === "/jobs") context.body = await list(pool, context);
    else context.body = await find(pool, context.path.slice("/jobs/".length));
  });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0 };
});

async function find(pool: Pool, id: string): Promise<unknown> {
  const [rows] = await pool.query<RowDataPacket[]>("SELECT * FROM jobs WHERE id = ? AND tenant = ?", [id, "default"]);
  return rows[0];
}

/** The cursor is the last row's time and id, in the open. */
async function list(pool: Pool, { query }: Context): Promise<unknown> {
  const { after, id } = query;
  const at = typeof after === "string" ? new Date(after) : null;
  const isAfter = at === null ? "" : "AND (created_at < ? OR (created_at = ? AND id < ?))";
  // Named, as the optimizer may take the primary key for the page after a cursor, and scan.
  const [rows] = await pool.query<RowDataPacket[]>(
    `SELECT * FROM jobs FORCE INDEX (by_creation) WHERE tenant = ? ${isAfter} ORDER BY created_at DESC, id DESC LIMIT ?`,
    ["default", ...(at === null ? [] : [at, at, id]), pageSize],
  );
  return { data: rows };
}

async function create(pool: Pool, context: Context): Promise<unknown> {
  const { subject, body, recipients } = JSON.parse(await readAll(context.req));
  const [{ insertId }] = await pool.query<ResultSetHeader>(
    "INSERT INTO bare_jobs (subject, body, recipients, status, created_at) VALUES (?, ?, ?, 'pending', ?)",
    [subject, body, JSON.stringify(recipients), new Date()],
  );
  context.status = 201;
  return { jobId: insertId, status: "pending" };
}
