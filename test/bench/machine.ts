import { availableParallelism, cpus, platform, release, totalmem } from "node:os";
import process from "node:process";
import type { Ground } from "./ground.ts";
import { describeRedis } from "./peers/redis-server.ts";

/** What the figures were measured on: they mean little without it. */
export type Machine = Readonly<Record<string, string>>;

export const describeMachine = async ({ nats, database }: Ground): Promise<Machine> => ({
  machine: `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`,
  system: `${platform()} ${release()}`,
  node: process.version,
  nats: nats.version,
  "nats sync_interval": nats.syncInterval ?? "not set (the server's default: every 2 minutes)",
  database: database.version,
  "database settings": `its own defaults: ${database.settings}`,
  redis: await describeRedis(),
  waybill: "default settings, each process built: node dist/src/main.js start",
});
