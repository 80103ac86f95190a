import mysql, { type RowDataPacket } from "mysql2/promise";
import { eventually } from "../support/eventually.ts";
import { actors, type Stage } from "./stage.ts";

/** Far more than any process holds when all is well, and far less than what outages would pile up. */
const mostOpenFiles = 80;
const mostDatabaseConnections = 40;
/** Eighteen lanes over the turns; over the log its permanent followers and a few of current reads. */
const mostConsumers = 32;
const mostTimers = 60;
const mostMegabytes = 400;

/** Each read of a job's history leaves a consumer behind, which the server removes after five seconds. */
const settledWithinMs = 15_000;

/** Connections, consumers, timers and memory that outages left behind, once everything is well again. */
export async function whatGrew(stage: Stage): Promise<readonly string[]> {
  const look = async (): Promise<void> => {
    const grown = await aboveLimits(stage);
    if (grown.length > 0) throw new Error(grown.join());
  };
  return await eventually(look, settledWithinMs).then(
    () => [],
    (failure: unknown) => [String(failure)],
  );
}

async function aboveLimits({ actors: processes, mysqlUrl, log }: Stage): Promise<string[]> {
  const grown: string[] = [];
  const limit = (what: string, found: number, most: number): void => {
    if (found > most) grown.push(`${what}: ${found}, more than ${most}`);
  };
  for (const actor of actors) {
    limit(`open files of ${actor}`, await processes[actor].openFiles(), mostOpenFiles);
    limit(`timers of ${actor}`, await processes[actor].timers(), mostTimers);
    limit(`megabytes of ${actor}`, await processes[actor].megabytes(), mostMegabytes);
  }
  limit("connections to the database", await countDatabaseConnections(mysqlUrl), mostDatabaseConnections);
  limit("consumers of log and turns", await log.countConsumers(), mostConsumers);
  return grown;
}

async function countDatabaseConnections(mysqlUrl: string): Promise<number> {
  const connection = await mysql.createConnection(mysqlUrl);
  try {
    const [rows] = await connection.query<RowDataPacket[]>("SHOW STATUS LIKE 'Threads_connected'");
    return Number(rows[0]?.["Value"]);
  } finally {
    await connection.end();
  }
}
