import { setTimeout as pause } from "node:timers/promises";
import { defaultTenant } from "../../../src/domain/tenant.ts";
import type { EventLog, JobRef } from "../../../src/event-log/event-log.ts";
import { createApiClient } from "../../support/api-client.ts";
import { type OpenStream, openStream } from "../../support/event-stream.ts";
import * as example from "../../support/examples.ts";
import { openJetStreamLog } from "../../support/jetstream-log.ts";
import { type Deployment, deploy, separateProcesses } from "../deployment.ts";
import type { Bench, Measurement, Row } from "../row.ts";
import { runMailing, type Watched, watch } from "../run-mailing.ts";
import { startSink } from "../sink/start-sink.ts";
import { percentile } from "../statistics.ts";
import { body, mailing, recipients, subject } from "../the-mail.ts";
import { toText } from "../wording.ts";

const name = "latency of an event stream";
/** A tenant may hold a hundred places: one is the feed's. */
const jobStreams = 99;
const msBetweenEvents = 5;

/** Events are put into the log one by one, each of them timed from before it is stored until a client has read it. */
export const streamLatencyMeasurement: Measurement = {
  rows: [name],
  timeoutMs: 240_000,
  measure: async (bench) => {
    const { ground, lifecycle, sizes } = bench;
    const sink = await startSink(lifecycle);
    const watched = await watch(bench, await deploy(ground, lifecycle, sink.url, separateProcesses));
    await runMailing(bench, watched, { jobs: 2, recipientsPerJob: 500 });
    const { log, close } = await openJetStreamLog(ground.nats.config, watched.deployment.prefix);
    lifecycle.started("the probe's log", close);
    const job = await createWaitingJob(watched.deployment, sizes.streamedEvents);
    const quiet: number[] = [];
    const busy: number[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      quiet.push(...(await probe(watched.deployment, log, job, sizes.streamedEvents)));
      busy.push(...(await probeUnderMailing(bench, watched, log, job)));
    }
    return [toRow(quiet, busy)];
  },
};

/** A job of another day: events about it can be written, and no role acts on them. */
async function createWaitingJob({ url }: Deployment, total: number): Promise<JobRef> {
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
  const wanted = { subject, body, recipients: recipients(Math.min(total, 1000)), scheduledAt };
  return { tenant: defaultTenant, jobId: await createApiClient(url).create(wanted) };
}

/** Of a type that no mailing here makes, so that the feed holds them and nothing else. */
async function probe({ url }: Deployment, log: EventLog, job: JobRef, events: number): Promise<number[]> {
  const from = (await log.state()).lastSequence;
  const feed = await openStream(`${url}/api/events?types=RecipientDeferred&after=${from}`);
  const readAt = new Map<number, number>();
  const reading = readTimes(feed, readAt, events);
  const sentAt = new Map<number, number>();
  const storing: Promise<unknown>[] = [];
  for (let index = 0; index < events; index += 1) {
    const event = example.recipientDeferred({ recipient: index % 1000 }, new Date().toISOString());
    const before = performance.now();
    const stored = log.record(job, [example.caused(`${job.jobId}/probe/${from}/${index}`, event)]);
    storing.push(stored.then((sequence) => sentAt.set(sequence, before)));
    await pause(msBetweenEvents);
  }
  await Promise.all(storing);
  await reading;
  feed.close();
  return [...sentAt].map(([sequence, before]) => (readAt.get(sequence) ?? Number.POSITIVE_INFINITY) - before);
}

async function readTimes(feed: OpenStream, readAt: Map<number, number>, count: number): Promise<void> {
  for await (const { id } of feed.events) {
    readAt.set(id, performance.now());
    if (readAt.size === count) return;
  }
}

/** The same, while a mailing goes out and each of its jobs is watched by some. */
async function probeUnderMailing(bench: Bench, watched: Watched, log: EventLog, job: JobRef): Promise<number[]> {
  const { url } = watched.deployment;
  const { jobs } = bench.sizes.mailing;
  const client = createApiClient(url);
  const allEnded = watched.ended.next(jobs);
  const streams: OpenStream[] = [];
  const watching: Promise<void>[] = [];
  for (let index = 0; index < jobs; index += 1) {
    const jobId = await client.create(mailing(bench.sizes.mailing.recipientsPerJob));
    for (let nth = index; nth < jobStreams; nth += jobs) {
      const stream = await openStream(`${url}/api/jobs/${jobId}/stream`);
      streams.push(stream);
      watching.push(drain(stream));
    }
  }
  const latencies = await probe(watched.deployment, log, job, bench.sizes.streamedEvents);
  await allEnded;
  for (const stream of streams) stream.close();
  await Promise.all(watching);
  return latencies;
}

async function drain({ events }: OpenStream): Promise<void> {
  for await (const _ of events);
}

const toRow = (quiet: readonly number[], busy: readonly number[]): Row => ({
  name,
  figures: [
    { what: "stored to read, nothing else going on, p99, ms", value: percentile(quiet, 99), atMost: 100 },
    { what: "the same under a mailing, p99, ms", value: percentile(busy, 99), atMost: 100 },
    { what: "p50, ms", value: percentile(quiet, 50) },
    { what: "p50 under a mailing, ms", value: percentile(busy, 50) },
  ],
  notes: [
    `${toText(quiet.length)} events, one every ${msBetweenEvents} ms, timed from before they are stored; ${jobStreams} clients watch the jobs of the mailing`,
  ],
  rounds: [{ quiet, busy }],
});
