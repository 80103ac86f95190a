import mysql, { type Pool } from "mysql2/promise";

/**
 * A row for each job, which its id finds and lists show by time or status; one for each recipient, with its state; one
 * for each attempt to mail, with what the mail server said. The defaults let one statement write the states of many jobs.
 */
const tables = `
CREATE TABLE IF NOT EXISTS jobs (
  id CHAR(36) CHARACTER SET ascii NOT NULL, request_sha256 CHAR(64) CHARACTER SET ascii NULL,
  status VARCHAR(16) CHARACTER SET ascii NOT NULL, priority VARCHAR(16) CHARACTER SET ascii NOT NULL DEFAULT 'normal',
  name VARCHAR(200) NULL, subject VARCHAR(200) NOT NULL DEFAULT '', metadata TEXT NULL,
  total INT NOT NULL DEFAULT 0, duplicates INT NOT NULL DEFAULT 0, sent INT NOT NULL, failed INT NOT NULL,
  attempt INT NOT NULL, created_at DATETIME(3) NULL, started_at DATETIME(3) NULL, completed_at DATETIME(3) NULL,
  PRIMARY KEY (id), KEY by_creation (created_at, id), KEY by_status_and_creation (status, created_at, id));
CREATE TABLE IF NOT EXISTS recipients (
  job_id CHAR(36) CHARACTER SET ascii NOT NULL, recipient SMALLINT NOT NULL, email VARCHAR(320) NOT NULL,
  status VARCHAR(16) CHARACTER SET ascii NOT NULL, updated_at DATETIME(3) NOT NULL, PRIMARY KEY (job_id, recipient));
CREATE TABLE IF NOT EXISTS logs (
  id BIGINT AUTO_INCREMENT PRIMARY KEY, job_id CHAR(36) CHARACTER SET ascii NOT NULL, recipient SMALLINT NOT NULL,
  status VARCHAR(16) CHARACTER SET ascii NOT NULL, attempt INT NOT NULL, message_id VARCHAR(998) NULL,
  response TEXT NULL, created_at DATETIME(3) NOT NULL, KEY by_job (job_id, recipient))`;

export type Row = (string | number | Date | null)[];

/** An insert with a `?` for its rows. */
export type Statement = readonly [sql: string, rows: Row[]];

const timezone = "Z";

/** Connections to the database of the service, with its tables. */
export async function openDatabase(uri: string, connectionLimit: number): Promise<Pool> {
  const pool = mysql.createPool({ uri, connectionLimit, timezone, multipleStatements: true });
  await pool.query(tables);
  return pool;
}

/** All of them or none, in one round trip. */
export async function inOneTransaction(pool: Pool, statements: readonly Statement[]): Promise<void> {
  const texts = statements.map(([sql, rows]) => mysql.format(sql, [rows], false, timezone));
  const connection = await pool.getConnection();
  try {
    await connection.query(["START TRANSACTION", ...texts, "COMMIT"].join(";"));
  } catch (failure) {
    await connection.query("ROLLBACK");
    throw failure;
  } finally {
    connection.release();
  }
}
