import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { allProjectors } from "../../projections/all-projectors.ts";
import { checkpointTable } from "../../projections/following/checkpoint.ts";
import { streamName } from "../../src/event-log/subjects.ts";
import { eventually } from "../support/eventually.ts";
import type { Surroundings } from "../support/waybill.ts";
import type { Stage } from "./row.ts";

/** How far a log and its read models have come, asked past the service's own processes. */
export type Progress = {
  lastSequence(): Promise<number>;
  /** The sequence up to which the slowest of the read models has come. */
  projected(): Promise<number>;
  /** Waits until every read model holds what the log holds by now. */
  caughtUp(): Promise<void>;
};

export async function watchProgress(
  { ground, lifecycle }: Stage,
  { nats: { prefix }, mysqlUrl }: Surroundings,
): Promise<Progress> {
  const nats = await ground.connectNats(lifecycle);
  const manager = await nats.jetstreamManager({ checkAPI: false });
  const db = await mysql.createConnection(mysqlUrl);
  lifecycle.started("a connection to the database", () => db.end());
  const lastSequence = async (): Promise<number> =>
    (await manager.streams.info(streamName(prefix, "JOBS"))).state.last_seq;
  const projected = (): Promise<number> => slowestCheckpoint(db);
  return {
    lastSequence,
    projected,
    caughtUp: async () => {
      const last = await lastSequence();
      const look = async (): Promise<void> => {
        const reached = await projected();
        if (reached < last) throw new Error(`The read models are at ${reached} of ${last}`);
      };
      await eventually(look, 300_000);
    },
  };
}

const checkpoints = allProjectors.map(({ name }) => `SELECT sequence FROM ${checkpointTable(name)} WHERE id = 1`);
const slowest = `SELECT MIN(sequence) AS reached FROM (${checkpoints.join(" UNION ALL ")}) AS checkpoints`;

async function slowestCheckpoint(db: Connection): Promise<number> {
  const [rows] = await db.query<RowDataPacket[]>(slowest);
  return Number(rows[0]?.["reached"] ?? 0);
}
