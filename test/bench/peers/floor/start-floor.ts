import { AckPolicy, RetentionPolicy, StorageType } from "nats";
import { startAskedProcess } from "../../asked-process.ts";
import type { Program } from "../../program.ts";
import type { Stage } from "../../row.ts";
import type { Sink } from "../../sink/start-sink.ts";
import type { FloorApiOrder, FloorApiState } from "./api.ts";
import { streams, subjects } from "./jetstream.ts";
import type { FloorReaderOrder } from "./reader.ts";
import type { FloorWorkerOrder } from "./worker.ts";

/** API, worker and reader in a process each, on the NATS and the database server of Waybill. */
export async function startFloor(stage: Stage, sink: Sink): Promise<Program> {
  const { ground, lifecycle } = stage;
  await createStreams(stage);
  const { servers, user, password } = ground.nats.config;
  const server = { servers, user: user ?? "", password: password ?? "" };
  const start = <Order, State>(file: string) =>
    startAskedProcess<Order, State>(lifecycle, new URL(file, import.meta.url));
  const api = start<FloorApiOrder, FloorApiState>("api.ts");
  const worker = start<FloorWorkerOrder, null>("worker.ts");
  const reader = start<FloorReaderOrder, null>("reader.ts");
  const { port } = (await api.ask(server)).result;
  await worker.ask({ ...server, smtpPort: sink.port });
  const reading = { ...server, mysqlUrl: await ground.freshDatabase() };
  await reader.ask({ ...reading, jobs: 0 });
  return {
    port,
    path: "/",
    pids: new Map([
      ["api", api.pid],
      ["worker", worker.pid],
      ["projector", reader.pid],
      ["nats", ground.nats.pid],
      ["database", ground.database.pid],
    ]),
    ended: (jobs) => reader.ask({ ...reading, jobs }),
    settled: async () => {},
  };
}

async function createStreams({ ground, lifecycle }: Stage): Promise<void> {
  const nats = await ground.connectNats(lifecycle);
  const manager = await nats.jetstreamManager();
  const storage = StorageType.File;
  await manager.streams.add({ name: streams.entries, subjects: [subjects.entriesOf("*")], storage });
  await manager.streams.add({
    name: streams.contents,
    subjects: [subjects.contentOf("*")],
    storage,
    allow_direct: true,
  });
  await manager.streams.add({
    name: streams.turns,
    subjects: [subjects.turnOf("*")],
    storage,
    retention: RetentionPolicy.Workqueue,
  });
  await manager.consumers.add(streams.turns, { durable_name: "workers", ack_policy: AckPolicy.Explicit });
  await manager.consumers.add(streams.entries, {
    durable_name: "reader",
    ack_policy: AckPolicy.None,
    mem_storage: true,
  });
}
