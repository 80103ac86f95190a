import { createLifecycle } from "../../src/process/lifecycle.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { endRun } from "../support/end-of-run.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, startNats } from "../support/services.ts";
import type { WaybillProcess } from "../support/waybill.ts";
import { startAskedProcess } from "./asked-process.ts";
import { startProcess } from "./deployment.ts";
import type { SinkOrder, SinkState } from "./sink/tcp-sink.ts";

/**
 * How well worker processes keep to the rate of a route together, and how soon each has its share after one has come or gone:
 * `npm run build && node --import tsx test/bench/shared-rates.ts`.
 */
const perSecond = 100;
const spanMs = 20_000;
const tolerance = 0.05;
const renewedWithinMs = 5000;
/** Each worker has some of these jobs, and each lasts longer than all spans. */
const jobs = 40;
const recipients = Array.from({ length: 1000 }, (_, index) => `person${index}@example.com`);

type RouteAnswer = { readonly workers: readonly { readonly worker: string; readonly share: number | null }[] };

const print = (line: string): unknown => process.stdout.write(`${line}\n`);
const lifecycle = createLifecycle((failure) => process.stderr.write(`${String(failure)}\n`));
const [nats, database] = await Promise.all([startNats(), freshDatabase()]);
const sink = startAskedProcess<SinkOrder, SinkState>(lifecycle, new URL("sink/tcp-sink.ts", import.meta.url));
const taken = async () => (await sink.ask({ msPerMail: 0 })).result;
const { port } = await taken();
const surroundings = { nats, mysqlUrl: database.url, smtpUrl: `smtp://127.0.0.1:${port}` };
const start = (roles: string): Promise<WaybillProcess> =>
  startProcess(lifecycle, surroundings, roles, { SMTP_RATE: String(perSecond) });
const workers: WaybillProcess[] = [];
let client: ApiClient;
let isKept = true;

/** The milliseconds until every worker that lives has an equal share. */
async function settled(): Promise<number> {
  const begunAt = performance.now();
  await eventually(async () => {
    const route = (await client.get("/api/admin/routes/default")).body as RouteAnswer;
    const shares = route.workers.map(({ share }) => share ?? 0);
    if (shares.length !== workers.length || shares.some((share) => Math.abs(share * workers.length - perSecond) > 0.01))
      throw new Error(`the shares of ${workers.length} workers are ${shares.join(", ")}`);
  }, 30_000);
  return performance.now() - begunAt;
}

async function rate(): Promise<number> {
  const [begunAt, before] = [performance.now(), (await taken()).mails];
  await eventually(() => {
    if (performance.now() - begunAt < spanMs) throw new Error("not yet");
  }, spanMs * 2);
  return (((await taken()).mails - before) * 1000) / (performance.now() - begunAt);
}

async function measure(change: string): Promise<void> {
  const renewedMs = await settled();
  const found = await rate();
  const holds = Math.abs(found / perSecond - 1) <= tolerance && renewedMs <= renewedWithinMs;
  isKept &&= holds;
  const count = `${workers.length} ${workers.length === 1 ? "worker" : "workers"}`.padEnd(9);
  print(
    `${count} after ${change.padEnd(12)} ${found.toFixed(1)} mails/s of ${perSecond}, shares renewed in ${Math.round(renewedMs)} ms${holds ? "" : "  NOT KEPT"}`,
  );
}

const join = async (count: number): Promise<void> => {
  workers.push(...(await Promise.all(Array.from({ length: count }, () => start("worker")))));
};

try {
  client = createApiClient((await start("api,scheduler,projector")).url);
  await join(1);
  for (let job = 0; job < jobs; job += 1) await client.create({ subject: "s", body: "text", recipients });
  await measure("the start");
  await join(1);
  await measure("1 joined");
  await join(3);
  await measure("3 joined");
  await workers.pop()?.terminate();
  await measure("1 left");
  await workers.pop()?.kill();
  await measure("1 was killed");
  for (const worker of workers.splice(1)) await worker.terminate();
  await measure("2 left");
} finally {
  await lifecycle.stop();
  await database.drop();
  await nats.cleanUp();
  await endRun();
}
process.exitCode = isKept ? 0 : 1;
