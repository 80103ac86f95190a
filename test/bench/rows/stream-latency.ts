import { setTimeout as pause } from "node:timers/promises";
import { defaultTenant } from "../../../src/domain/tenant.ts";
import type { EventLog, JobRef } from "../../../src/event-log/event-log.ts";
import { type OpenStream, openStream } from "../../support/event-stream.ts";
import * as example from "../../support/examples.ts";
import { openJetStreamLog } from "../../support/jetstream-log.ts";
import { coldAndWarm } from "../cold-and-warm.ts";
import { type Deployment, separateProcesses } from "../deployment.ts";
import { figureOf, type Measurement } from "../row.ts";
import { postJob, runMailing } from "../run-mailing.ts";
import { startSink } from "../sink/start-sink.ts";
import { mailsOf, type Sizes } from "../sizes.ts";
import { type RunningWaybill, startWaybill } from "../start-waybill.ts";
import { percentile } from "../statistics.ts";
import { body, mailing, recipients, subject } from "../the-mail.ts";
import { toText } from "../wording.ts";

/** A tenant may hold a hundred places: one is the feed's. */
const jobStreams = 99;
const msBetweenEvents = 5;

/** Latencies in ms. */
type Round = { readonly quiet: readonly number[]; readonly busy: readonly number[] };

/** Events are put into the log one by one, each of them timed from before it is stored until a client has read it. */
export const streamLatency: Measurement = {
  name: "latency of an event stream",
  timeoutMs: 300_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const { ground, lifecycle } = stage;
      const waybill = await startWaybill(stage, await startSink(lifecycle), separateProcesses);
      const { log, close } = await openJetStreamLog(ground.nats.config, waybill.deployment.surroundings.nats.prefix);
      lifecycle.started("the probe's log", close);
      const job = await createWaitingJob(waybill, sizes.streamedEvents);
      const run = async (): Promise<Round> => ({
        quiet: await probe(waybill.deployment, log, job, sizes.streamedEvents),
        busy: await probeUnderMailing(waybill, log, job, sizes),
      });
      const rounds = await coldAndWarm(count, run, () => runMailing(waybill, sizes.warmUp));
      return {
        figures: [
          figureOf(rounds, "p99, ms", ({ quiet }) => percentile(quiet, 99), { warm: { atMost: 100 } }),
          figureOf(rounds, "p50, ms", ({ quiet }) => percentile(quiet, 50)),
          figureOf(rounds, "under a mailing, p99, ms", ({ busy }) => percentile(busy, 99), { warm: { atMost: 100 } }),
          figureOf(rounds, "under a mailing, p50, ms", ({ busy }) => percentile(busy, 50)),
        ],
        notes: [
          `${toText(sizes.streamedEvents)} events, one every ${msBetweenEvents} ms, timed from before they are stored; ${jobStreams} clients watch the jobs of the mailing`,
          `warm-up: ${toText(mailsOf(sizes.warmUp))} mails`,
        ],
        rounds,
      };
    }),
};

/** A job of another day: events about it can be written, and no role acts on them. */
async function createWaitingJob(waybill: RunningWaybill, total: number): Promise<JobRef> {
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
  const wanted = { subject, body, recipients: recipients(Math.min(total, 1000)), scheduledAt };
  return { tenant: defaultTenant, jobId: await postJob(waybill, wanted) };
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
async function probeUnderMailing(
  waybill: RunningWaybill,
  log: EventLog,
  job: JobRef,
  { mailing: { jobs, recipientsPerJob }, streamedEvents }: Sizes,
): Promise<number[]> {
  const { url } = waybill.deployment;
  const allEnded = waybill.ended(jobs);
  const streams: OpenStream[] = [];
  const watching: Promise<void>[] = [];
  for (let index = 0; index < jobs; index += 1) {
    const jobId = await postJob(waybill, mailing(recipientsPerJob));
    for (let nth = index; nth < jobStreams; nth += jobs) {
      const stream = await openStream(`${url}/api/jobs/${jobId}/stream`);
      streams.push(stream);
      watching.push(drain(stream));
    }
  }
  const latencies = await probe(waybill.deployment, log, job, streamedEvents);
  await allEnded;
  for (const stream of streams) stream.close();
  await Promise.all(watching);
  return latencies;
}

async function drain({ events }: OpenStream): Promise<void> {
  for await (const _ of events);
}
