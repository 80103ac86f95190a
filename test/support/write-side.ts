import { handleCommand } from "../../src/commands/handle-command.ts";
import { foldDecisions, newJob } from "../../src/commands/read-version.ts";
import type { ContentStore, JobContent } from "../../src/content/content-store.ts";
import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import type { JobSettings } from "../../src/domain/job/events.ts";
import { foldJobView, type JobView } from "../../src/domain/job/job-view.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import type { Listening } from "../../src/event-log/following/active-process.ts";
import type { CheckpointStore } from "../../src/event-log/following/checkpoint-store.ts";
import { createJetStreamCheckpointStore } from "../../src/event-log/following/jetstream-checkpoint-store.ts";
import { createListening, type Listener } from "../../src/event-log/following/listener.ts";
import { shareFollowing } from "../../src/event-log/following/share-following.ts";
import { createJetStreamEventLog } from "../../src/event-log/jetstream-event-log.ts";
import { ensureStreams } from "../../src/event-log/jetstream-streams.ts";
import { createMailWork, type MailWorkDependencies } from "../../src/job-kinds/email/mail-work.ts";
import { withBreaker } from "../../src/mail/breaker.ts";
import type { Pace } from "../../src/mail/pace.ts";
import type { MailRouting } from "../../src/mail/routes/mail-routing.ts";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import { createJetStreamSuppressionEntries } from "../../src/suppressions/jetstream-suppression-entries.ts";
import { createJetStreamSuppressionStore } from "../../src/suppressions/jetstream-suppression-store.ts";
import { createSuppressedDigests } from "../../src/suppressions/suppressed-digests.ts";
import { createSuppressionGuard, type SuppressionGuard } from "../../src/suppressions/suppression-guard.ts";
import { createSuppressionList, type SuppressionList } from "../../src/suppressions/suppression-list.ts";
import { createJetStreamTurns } from "../../src/turns/jetstream-turns.ts";
import { createJetStreamWorkQueue, type WorkQueueSettings } from "../../src/turns/jetstream-work-queue.ts";
import { createScheduler, queuedAfter } from "../../src/turns/scheduler/scheduler.ts";
import type { Turns } from "../../src/turns/turns.ts";
import { createJobWorker, type JobWorkerConfig } from "../../src/workers/create-job-worker.ts";
import { createJetStreamHelp } from "../../src/workers/jetstream-help.ts";
import { createJetStreamLeaseProbe } from "../../src/workers/jetstream-lease-probe.ts";
import type { JobWork } from "../../src/workers/job-work.ts";
import { queuePatienceMs, type Worker } from "../../src/workers/worker.ts";
import { settings as exampleSettings, now } from "./examples.ts";
import { oneRoute } from "./one-route.ts";
import { startNats, type TestNats } from "./services.ts";

type MailConfig = Pick<MailWorkDependencies, "mailFrom" | "batchDelayMs" | "throttling"> & {
  /** In place of one default route to the mail server. */
  readonly routing: MailRouting;
  /** How fast the default route may begin: 0 holds every mail back until the test says otherwise. */
  readonly pace: (pace: Pace) => void;
  /** Replaces the step that puts refused recipients on the list. */
  readonly refused: SuppressionGuard["refused"];
  /** Replaces the look at the list before a recipient is claimed, and again before its mail. */
  readonly reasonFor: SuppressionGuard["reasonFor"];
};

/** The log, the content and the roles that act on them, on streams of this file's own, without a database. */
export type WriteSide = {
  readonly nats: TestNats;
  readonly connection: JetStreamConnection;
  readonly log: EventLog;
  readonly turns: Turns;
  readonly contentStore: ContentStore;
  /** The addresses that are never mailed. */
  readonly suppressions: SuppressionList;
  /** Stores content and JobCreated, as the API does. */
  createJob(
    recipients: readonly string[],
    settings?: Partial<JobSettings>,
    content?: Partial<JobContent>,
    tenant?: string,
  ): Promise<JobRef>;
  readView(job: JobRef): Promise<JobView>;
  /** Puts the turn that comes next, as if its time had come. */
  putTurn(job: JobRef): Promise<void>;
  startScheduler(): void;
  /** The log as the listeners of a process share it. */
  readonly followed: EventLog;
  readonly checkpoints: CheckpointStore;
  /** Starts a listener as one process of several does. */
  listen(listener: Listener, report?: (failure: unknown) => void): Listening;
  /** A worker for one kind of job. */
  startWork(work: JobWork, config?: Partial<JobWorkerConfig & Pick<WorkQueueSettings, "mostDelivered">>): Worker;
  /** One for mailings. */
  startWorker(smtpUrl: string, config?: Partial<JobWorkerConfig & MailConfig>): Worker;
  /** What went wrong in a scheduler or a worker and was left to a later try. */
  readonly reported: unknown[];
  cleanUp(): Promise<void>;
};

export const exampleContent: JobContent = {
  name: null,
  metadata: {},
  subject: "Your invoice",
  html: "<p>Hello</p>",
  text: null,
  from: null,
  replyTo: null,
  headers: {},
  recipients: [],
};

const mailerOf = (url: string) =>
  withBreaker(createSmtpMailer({ url, maxConnections: 4, timeoutMs: 20_000, answerTimeoutMs: 20_000 }));

export async function startWriteSide(): Promise<WriteSide> {
  const nats = await startNats();
  const { prefix } = nats;
  const connection = await connectJetStream(nats.config, "test", () => {});
  await ensureStreams(connection, { prefix, replicas: 1, maxBytes: null });
  const log = await createJetStreamEventLog(connection, prefix);
  const followed = shareFollowing(log);
  const checkpoints = createJetStreamCheckpointStore(connection, { prefix, replicas: 1 });
  const turns = createJetStreamTurns(connection, { prefix, replicas: 1 });
  const contentStore = await createJetStreamContentStore(connection, prefix);
  const suppressionStore = createJetStreamSuppressionStore(connection, prefix);
  const stops: (() => Promise<void>)[] = [];
  const reported: unknown[] = [];
  let jobs = 0;
  let workers = 0;

  const startWork: WriteSide["startWork"] = (work, { mostDelivered, ...config } = {}) => {
    workers += 1;
    const limits = { ackWaitMs: queuePatienceMs, ...(mostDelivered !== undefined && { mostDelivered }) };
    const queue = createJetStreamWorkQueue(connection, { prefix, replicas: 1, type: work.type, ...limits }, (notice) =>
      reported.push(notice),
    );
    const worker = createJobWorker(
      {
        log,
        queue,
        probe: createJetStreamLeaseProbe(connection, prefix),
        exchange: createJetStreamHelp(connection, prefix),
      },
      work,
      {
        name: `worker-${workers}`,
        concurrency: 20,
        retrySchedule: { baseDelayMs: 60_000, factor: 2, jitter: 0, delaysMs: null },
        ...config,
      },
      {
        turnBrokeOff: (failure) => reported.push(failure),
        helpBrokeOff: (failure) => reported.push(failure),
        standsStill: (standstill) => reported.push(standstill),
      },
    );
    worker.start();
    stops.push(() => worker.stop(2000));
    return worker;
  };

  const listen: WriteSide["listen"] = (listener, report = (failure) => reported.push(failure)) => {
    const listening = createListening({ log: followed, checkpoints, report }, listener);
    listening.start();
    stops.push(listening.stop);
    return listening;
  };

  return {
    nats,
    connection,
    log,
    followed,
    checkpoints,
    listen,
    turns,
    contentStore,
    suppressions: createSuppressionList(suppressionStore),
    reported,
    createJob: async (recipients, settings = {}, content = {}, tenant = "default") => {
      jobs += 1;
      const job = { tenant, jobId: `job-${jobs}` };
      const bytes = encodeContent({
        ...exampleContent,
        recipients: recipients.map((email) => ({ email })),
        ...content,
      });
      await contentStore.put(job, bytes);
      const created = { ...exampleSettings, total: recipients.length, contentSha256: digestOf(bytes), ...settings };
      const cause = { actor: "anonymous", correlationId: null, causationId: null, traceparent: null };
      await handleCommand(log, job, { type: "CreateJob", at: now, settings: created }, cause, { from: newJob });
      return job;
    },
    readView: async (job) => {
      const view = foldJobView((await log.readHistory(job)).map(({ event }) => event));
      if (view === null) throw new Error(`There is no job ${job.jobId}`);
      return view;
    },
    putTurn: async (job) => {
      const decisions = await log.readDecisions(job);
      const { state } = foldDecisions(decisions);
      const last = decisions.at(-1);
      if (last === undefined || state.status === "absent") throw new Error(`There is no job ${job.jobId}`);
      await turns.put(queuedAfter(last, { ...state, ...state.settings }), "lane");
    },
    startScheduler: () => {
      listen(createScheduler(turns));
    },
    startWork,
    startWorker: (smtpUrl, given = {}) => {
      const {
        mailFrom = "Waybill <waybill@example.org>",
        batchDelayMs = 0,
        pace,
        routing = oneRoute(mailerOf(smtpUrl)),
        refused,
        reasonFor,
        throttling = null,
        ...config
      } = given;
      stops.push(routing.close);
      for (const run of routing.runs()) pace?.(run.pace);
      const digests = createSuppressedDigests(createJetStreamSuppressionEntries(connection, prefix));
      stops.push(async () => digests.stop());
      const guard = createSuppressionGuard(
        suppressionStore,
        digests,
        async () => false,
        (failure) => reported.push(failure),
      );
      const suppressions = { ...guard, ...(refused && { refused }), ...(reasonFor && { reasonFor }) };
      const publicUrl = "https://waybill.example.org";
      return startWork(
        createMailWork({
          contentStore,
          routing,
          mailFrom,
          batchDelayMs,
          suppressions,
          publicUrl,
          returnPaths: null,
          throttling,
          slowAtOnce: 2,
        }),
        config,
      );
    },
    cleanUp: async () => {
      for (const stop of stops.splice(0).reverse()) await stop();
      await connection.close();
      await nats.cleanUp();
    },
  };
}
