import mysql from "mysql2/promise";
import { readConfig } from "../../src/settings/config.ts";
import { startStandalone } from "../../src/standalone/standalone.ts";

// Run as a process of its own, which a test kills: it starts the servers under DATA_DIR, says so, and stays.
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

const standalone = await startStandalone(readConfig(process.env), say);

async function finish(): Promise<void> {
  const connection = await mysql.createConnection(standalone.config.mysqlUrl);
  await connection.query("SELECT 1");
  await connection.end();
  say("the database still answers");
  await standalone.stop();
  process.exit(0);
}

process.once("SIGINT", () => void finish());
say("started");
// The servers alone do not keep a process alive that has nothing to do.
setInterval(() => {}, 60_000);
