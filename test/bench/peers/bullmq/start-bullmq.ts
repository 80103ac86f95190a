import { startAskedProcess } from "../../asked-process.ts";
import type { Program } from "../../program.ts";
import type { Stage } from "../../row.ts";
import type { Sink } from "../../sink/start-sink.ts";
import { findRedis, startRedis } from "../redis-server.ts";
import type { BullmqApiOrder, BullmqApiState } from "./api.ts";
import type { BullmqWorkerOrder } from "./worker.ts";

export const noBullmq = "BullMQ is not measured: there is no redis-server on this machine";

export const whatBullmqStores =
  "it stores a row for each job, recipient and mail in the same database, no body, no history, no ledger of addresses";

/** API and worker in a process each; null where Redis is not installed. */
export async function startBullmq({ ground, lifecycle }: Stage, sink: Sink): Promise<Program | null> {
  const binary = await findRedis();
  if (binary === null) return null;
  const redis = await startRedis(binary, lifecycle);
  const start = <Order, State>(file: string) =>
    startAskedProcess<Order, State>(lifecycle, new URL(file, import.meta.url));
  const api = start<BullmqApiOrder, BullmqApiState>("api.ts");
  const worker = start<BullmqWorkerOrder, null>("worker.ts");
  const order = { redisPort: redis.port, mysqlUrl: await ground.freshDatabase(), smtpPort: sink.port };
  const { port } = (await api.ask(order)).result;
  await worker.ask({ ...order, jobs: 0 });
  return {
    port,
    path: "/api/jobs",
    pids: new Map([
      ["api", api.pid],
      ["worker", worker.pid],
      ["redis", redis.pid],
      ["database", ground.database.pid],
    ]),
    ended: (jobs) => worker.ask({ ...order, jobs }),
    settled: async () => {},
  };
}
