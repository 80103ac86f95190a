import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { isAtLeast } from "../nats/server-version.ts";
import { examineClock } from "./examine-surroundings.ts";
import { type Finding, fine, serious, wordsOf } from "./finding.ts";

const connectTimeoutMs = 5000;

/** Connects to the database and queries its version and its clock. */
export async function examineDatabase(url: string): Promise<readonly Finding[]> {
  let connection: Connection;
  try {
    connection = await mysql.createConnection({ uri: url, connectTimeout: connectTimeoutMs, timezone: "Z" });
  } catch (failure) {
    return [unreachable(failure as NodeJS.ErrnoException, new URL(url))];
  }
  try {
    const before = Date.now();
    const [rows] = await connection.query<RowDataPacket[]>(
      "SELECT VERSION() AS version, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED) AS now",
    );
    const after = Date.now();
    const reported = Number(rows[0]?.["now"]);
    return [examineVersion(String(rows[0]?.["version"])), examineClock("the database", { before, reported, after })];
  } catch (failure) {
    return [
      serious(
        "mysql",
        `The database does not answer: ${wordsOf(failure)}`,
        "Look into the log of the database server.",
      ),
    ];
  } finally {
    connection.destroy();
  }
}

/** None of these texts contains the password. */
function unreachable(
  { code = "", message }: NodeJS.ErrnoException,
  { hostname, port, username, pathname }: URL,
): Finding {
  const place = `${hostname}:${port === "" ? "3306" : port}`;
  switch (code) {
    case "ER_ACCESS_DENIED_ERROR":
    case "ER_DBACCESS_DENIED_ERROR":
      return serious(
        "mysql",
        `The database refuses the user ${username}`,
        `Check user and password in MYSQL_URL, and GRANT ALL ON ${pathname.slice(1)}.* to the user.`,
      );
    case "ER_BAD_DB_ERROR":
      return serious(
        "mysql",
        `There is no database ${pathname.slice(1)} at ${place}`,
        `CREATE DATABASE ${pathname.slice(1)} CHARACTER SET utf8mb4; waybill start makes the tables.`,
      );
    default:
      return serious(
        "mysql",
        `The database cannot be reached at ${place}: ${code === "" ? message : code}`,
        "Check MYSQL_URL, and that the server runs. Jobs are accepted and mailed meanwhile; queries for lists and logs fail.",
      );
  }
}

function examineVersion(version: string): Finding {
  const isMariadb = /mariadb/i.test(version);
  const least = isMariadb ? ([10, 6] as const) : ([8, 0] as const);
  const name = isMariadb ? "MariaDB" : "MySQL";
  if (isAtLeast(version, least)) return fine("mysql", `${name} ${version} answers`);
  return serious("mysql", `The database is ${name} ${version}`, `Use ${name} ${least.join(".")} or later.`);
}
