import { providersOf } from "../../src/domain/throttles/providers.ts";
import { createJetStreamThrottleStore } from "../../src/mail/throttles/jetstream-throttle-store.ts";
import { createReceivers, createReceiversOfRoutes } from "../../src/mail/throttles/receivers.ts";
import { shareThrottles } from "../../src/mail/throttles/share-throttles.ts";
import { createLifecycle } from "../../src/process/lifecycle.ts";
import { endRun } from "../support/end-of-run.ts";
import { eventually } from "../support/eventually.ts";
import { startWriteSide } from "../support/write-side.ts";
import { startAskedProcess } from "./asked-process.ts";
import type { SinkOrder, SinkState } from "./sink/tcp-sink.ts";
import { median } from "./statistics.ts";

/**
 * What the rest of a mailing loses while one of a hundred domains asks for patience: `node --import tsx test/bench/throttled-domains.ts`.
 * The rounds alternate, so that what else the machine does befalls all in the same way.
 */
const domains = 1000;
const refusing = domains / 100;
const mails = 10_000;
const rounds = 4;
const refuses = "slow";

type Measured = { readonly perSecond: number; readonly cpuMicros: number };

type Mode = { readonly name: string; readonly isThrottling: boolean; readonly refuses: string | null };

const modes = [
  { name: "no throttling, none refuse", isThrottling: false, refuses: null },
  { name: "throttling, none refuse", isThrottling: true, refuses: null },
  { name: "throttling, 1 % refuse", isThrottling: true, refuses },
] as const satisfies readonly Mode[];

const recipients = Array.from({ length: mails }, (_, index) => {
  const domain = index % domains;
  return `person${index}@${domain < refusing ? refuses : "domain"}${domain}.example`;
});
const rest = recipients.filter((address) => !address.includes(`@${refuses}`)).length;

const warn = (failure: unknown): void => {
  process.stderr.write(`${String(failure)}\n`);
};

/** What the mails took that were taken; CPU is that of the worker, which a busy machine does not change. */
async function measure({ isThrottling, refuses: refused }: Mode): Promise<Measured> {
  const lifecycle = createLifecycle(warn);
  const writeSide = await startWriteSide();
  const sink = startAskedProcess<SinkOrder, SinkState>(lifecycle, new URL("sink/tcp-sink.ts", import.meta.url));
  const ask = async () => (await sink.ask({ msPerMail: 0, refuses: refused })).result;
  const { port } = await ask();
  const routes = createReceiversOfRoutes(() => createReceivers({ connections: 4, workers: () => 1, most: 10_000 }));
  const sharing = shareThrottles({
    store: createJetStreamThrottleStore(writeSide.connection, { prefix: writeSide.nats.prefix, replicas: 1 }),
    routes,
    records: null,
    report: warn,
  });
  if (isThrottling) sharing.start();
  const throttling = isThrottling
    ? { of: routes.of, isFree: () => routes.size() === 0, providers: providersOf([]), stays: 2 }
    : null;
  writeSide.startScheduler();
  const worker = writeSide.startWorker(`smtp://127.0.0.1:${port}`, { throttling });
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  await writeSide.createJob(recipients, { deferForMs: 3_600_000 });
  // Those that would refuse are counted where they do not: they are no part of the rest, but were mailed in the same time.
  const wanted = refused === null ? mails : rest;
  await eventually(async () => {
    if ((await ask()).mails < wanted) throw new Error("not yet");
  }, 120_000);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await worker.stop(2000);
  await sharing.stop();
  await writeSide.cleanUp();
  await lifecycle.stop();
  return { perSecond: wanted / seconds, cpuMicros: (user + system) / wanted };
}

const print = (line: string): unknown => process.stdout.write(`${line}\n`);

const found = new Map<string, Measured[]>(modes.map(({ name }) => [name, []]));
await measure(modes[0]);
for (let round = 0; round < rounds; round += 1) {
  for (const mode of modes) found.get(mode.name)?.push(await measure(mode));
}
const of = ({ name }: Mode, pick: (one: Measured) => number): number => median((found.get(name) ?? []).map(pick));
for (const [name, all] of found) {
  const [rates, cpu] = [all.map(({ perSecond }) => Math.round(perSecond)), all.map((one) => Math.round(one.cpuMicros))];
  print(`${name.padEnd(28)} ${rates.join(" ")} mails/s, ${cpu.join(" ")} us of CPU a mail`);
}
for (const [what, pick] of [
  ["mails/s", ({ perSecond }: Measured) => perSecond],
  ["CPU a mail", ({ cpuMicros }: Measured) => cpuMicros],
] as const) {
  const [plain, idle, slowed] = modes.map((mode) => of(mode, pick)) as [number, number, number];
  print(
    `${what}: throttling ÷ none ${(idle / plain).toFixed(3)}, 1 % refusing ÷ none refusing ${(slowed / idle).toFixed(3)}`,
  );
}
await endRun();
