import { availableParallelism, cpus, platform, release, totalmem } from "node:os";
import process from "node:process";
import type { Ground } from "./ground.ts";

/** What the figures were measured on: they mean little without it. */
export type Machine = Readonly<Record<string, string>>;

export const describeMachine = ({ nats, database }: Ground): Machine => ({
  machine: `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`,
  system: `${platform()} ${release()}`,
  node: process.version,
  nats: nats.version,
  "nats sync_interval": nats.sync,
  database: database.version,
  innodb_flush_log_at_trx_commit: database.flush,
});
