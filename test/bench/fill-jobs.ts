import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { v7 as uuid } from "uuid";

const rowsAtOnce = 10_000;
const msBetweenJobs = 250;

/**
 * Makes a list long without mailing for an hour: the row of the one job that there is, as the projection wrote it, is
 * copied so many times, each with an id and times of its own, oldest first. Answers the ids.
 */
export async function fillJobs(mysqlUrl: string, count: number): Promise<readonly string[]> {
  const connection = await mysql.createConnection(mysqlUrl);
  try {
    const columns = await columnsOfJobs(connection);
    const copies = toCopies(count);
    await connection.query(
      "CREATE TABLE copies (id VARCHAR(64) PRIMARY KEY, at DATETIME(3) NOT NULL, place BIGINT NOT NULL)",
    );
    for (let first = 0; first < count; first += rowsAtOnce) {
      await connection.query("INSERT INTO copies (id, at, place) VALUES ?", [copies.slice(first, first + rowsAtOnce)]);
    }
    const values = columns.map((column) => copiedFrom(column));
    await connection.query(
      `INSERT INTO jobs (${columns.map(quoted)}) SELECT ${values} FROM jobs AS original CROSS JOIN copies ORDER BY copies.id`,
    );
    await connection.query("DROP TABLE copies");
    // All of the kind that the one job is of.
    await connection.query("UPDATE jobs_counts SET jobs = jobs + ?", [count]);
    // As it would be on a table that grew: what was copied at once has no statistics yet.
    await connection.query("ANALYZE TABLE jobs");
    return copies.map(([id]) => id);
  } finally {
    await connection.end();
  }
}

/** Their places are before the whole log. */
function toCopies(count: number): (readonly [id: string, at: Date, place: number])[] {
  const firstAt = Date.now() - (count + 1) * msBetweenJobs;
  return Array.from({ length: count }, (_, index) => {
    const at = firstAt + index * msBetweenJobs;
    return [uuid({ msecs: at }), new Date(at), index - count] as const;
  });
}

async function columnsOfJobs(connection: Connection): Promise<string[]> {
  const [rows] = await connection.query<RowDataPacket[]>(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'jobs'",
  );
  return rows.map(({ name }) => String(name));
}

function copiedFrom(column: string): string {
  if (column === "id" || column === "place") return `copies.${column}`;
  return ["created_at", "started_at", "completed_at"].includes(column) ? "copies.at" : `original.${quoted(column)}`;
}

const quoted = (column: string): string => `\`${column}\``;
