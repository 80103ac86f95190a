import { logReport } from "../../../projections/jobs/recipients/log-report.ts";
import { jobReport } from "../../../projections/jobs/report.ts";
import { createTenantStretches } from "../../../projections/jobs/tenant-stretches.ts";
import { createReportSource } from "../../../projections/report-source.ts";
import { digestOf, encodeContent } from "../../../src/content/encode-content.ts";
import type { ResultChunk, ResultStore } from "../../../src/content/result-store.ts";
import { foldJobView, type JobView } from "../../../src/domain/job/job-view.ts";
import { emptyLedger } from "../../../src/domain/recipients/ledger.ts";
import type { EventLog, JobRef } from "../../../src/event-log/event-log.ts";
import { createEventSource } from "../../../src/job-kinds/report/event-source.ts";
import type { ReportRequest } from "../../../src/job-kinds/report/report-source.ts";
import { createReportWork } from "../../../src/job-kinds/report/report-work.ts";
import { createBookkeeper, createUnwritten } from "../../../src/workers/bookkeeper.ts";
import { notNow } from "../../../src/workers/job-work.ts";
import { watchLease } from "../../../src/workers/lease.ts";
import type { AttemptEnd, HeldTurn } from "../../../src/workers/turn.ts";
import { caused, jobCreated, jobStarted, settings } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { createMemoryResultStore } from "../../support/memory/memory-result-store.ts";
import { exampleJobContent, openReadSide, type ReadSide } from "../../support/read-side.ts";

export type ReportSide = {
  readonly readSide: ReadSide;
  readonly results: ResultStore;
  /** A report that was asked for, and has not begun. */
  createReport(request: Partial<ReportRequest>, tenant?: string): Promise<JobRef>;
  /** One attempt, as a worker does it, from the lease on. It stops when the signal says so. */
  attempt(job: JobRef, options?: AttemptOptions): Promise<AttemptEnd>;
  chunks(job: JobRef, run?: number): Promise<readonly ResultChunk[]>;
  /** The whole file as text. */
  file(job: JobRef, run?: number): Promise<string>;
  view(job: JobRef): Promise<JobView>;
  cleanUp(): Promise<void>;
};

export type AttemptOptions = {
  readonly run?: number;
  readonly attempt?: number;
  readonly worker?: string;
  readonly chunkBytes?: number;
  readonly stopping?: AbortSignal;
  readonly results?: ResultStore;
  /** The lease of an earlier JobStarted; without it the attempt begins with one of its own. */
  readonly leaseSequence?: number;
};

const now = (): string => new Date().toISOString();

/** Real read models of a log in memory, and reports that are made of them by the real work. */
export async function openReportSide(): Promise<ReportSide> {
  const readSide = await openReadSide();
  const { log, contentStore, db, positions } = readSide;
  const results = createMemoryResultStore();
  const sources = {
    jobs: createReportSource(db, positions, jobReport),
    logs: createReportSource(db, positions, logReport),
    events: createEventSource(log, createTenantStretches(db)),
  };
  const chunks = async (job: JobRef, run = 1): Promise<readonly ResultChunk[]> => {
    const found: ResultChunk[] = [];
    for (let index = 0; ; index += 1) {
      const chunk = await results.get({ ...job, run }, index);
      if (chunk === null) return found;
      found.push(chunk);
    }
  };
  return {
    readSide,
    results,
    createReport: async (request, tenant) => {
      const job = newJob(tenant);
      const payload = { of: "logs", format: "ndjson", from: null, to: null, ...request };
      const content = encodeContent({ ...exampleJobContent, recipients: [], payload });
      await contentStore.put(job, content);
      const data = { ...settings, type: "report.export", total: 0, contentSha256: digestOf(content) };
      await log.append(job, [caused(`${job.jobId}/created`, jobCreated(data, now()))], 0);
      return job;
    },
    attempt: async (job, options = {}) => {
      const { run = 1, attempt = 1, worker = "worker-1", stopping = new AbortController().signal } = options;
      const leaseSequence = options.leaseSequence ?? (await begin(log, job, { run, attempt, worker }));
      const held: HeldTurn = {
        job,
        turn: { run, attempt },
        ...(await settingsOf(log, job)),
        worker,
        leaseSequence,
        cause: { actor: `worker:${worker}`, correlationId: null, causationId: null, traceparent: null },
        ledger: emptyLedger(0),
        confirmedAt: performance.now(),
        readLedger: async () => emptyLedger(0),
        claimed: [],
        isLastAttempt: false,
        deferredUntil: null,
        putOff: 0,
        putOffUntil: new Date(0).toISOString(),
        supply: null,
        help: null,
      };
      const lease = watchLease(log, held, stopping);
      const books = createBookkeeper(log, held, now, createUnwritten(1), { claiming: stopping, giveUp: stopping });
      const ports = { log, contentStore, sources, results: options.results ?? results };
      const prepared = await createReportWork(ports, options.chunkBytes ?? 2000).prepare(job, held.settings);
      if (prepared === notNow) throw new Error("A report never waits for anything that is away.");
      const { work } = prepared;
      return await work(held, lease, books, stopping).finally(lease.end);
    },
    chunks,
    file: async (job, run) => Buffer.concat((await chunks(job, run)).map(({ bytes }) => bytes)).toString(),
    view: async (job) => {
      const view = foldJobView((await log.readHistory(job)).map(({ event }) => event));
      if (view === null) throw new Error(`There is no job ${job.jobId}`);
      return view;
    },
    cleanUp: readSide.cleanUp,
  };
}

export async function begin(
  log: EventLog,
  job: JobRef,
  turn: { readonly run: number; readonly attempt: number; readonly worker: string },
): Promise<number> {
  const last = await log.lastDecision(job);
  return await log.append(job, [caused(`${job.jobId}/started/${last}`, jobStarted(turn, now()))], last);
}

async function settingsOf(log: EventLog, job: JobRef): Promise<Pick<HeldTurn, "settings" | "createdAt">> {
  const created = (await log.readDecisions(job))[0]?.event;
  if (created?.type !== "JobCreated") throw new Error(`There is no job ${job.jobId}`);
  return { settings: created.data, createdAt: created.at };
}

/** The same store, which calls back before each piece that is stored. */
export const watched = (results: ResultStore, before: (index: number) => Promise<void> | void): ResultStore => ({
  maxBytes: results.maxBytes,
  get: results.get,
  ofTenant: results.ofTenant,
  piecesOf: results.piecesOf,
  erase: results.erase,
  put: async (result, index, chunk) => {
    await before(index);
    return await results.put(result, index, chunk);
  },
});
