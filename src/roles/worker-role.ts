import type { Logger } from "pino";
import { createReadPositions } from "../../projections/following/read-position.ts";
import { logReport } from "../../projections/jobs/recipients/log-report.ts";
import { jobReport } from "../../projections/jobs/report.ts";
import { createTenantStretches } from "../../projections/jobs/tenant-stretches.ts";
import { createReportSource } from "../../projections/report-source.ts";
import type { JobType } from "../domain/job/events.ts";
import type { BreakerState } from "../domain/unavailable.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { suffixOfKind } from "../event-log/subjects.ts";
import { traceIdOf } from "../event-log/traceparent.ts";
import type { WorkersView } from "../health/health-probes.ts";
import { allJobKinds } from "../job-kinds/all-job-kinds.ts";
import type { WorkPorts } from "../job-kinds/job-kind.ts";
import { createEventSource } from "../job-kinds/report/event-source.ts";
import type { RouteBook } from "../mail/routes/route-book.ts";
import { createJetStreamSuppressionEntries } from "../suppressions/jetstream-suppression-entries.ts";
import { createSuppressedDigests } from "../suppressions/suppressed-digests.ts";
import { createSuppressionGuard, type SuppressionGuard } from "../suppressions/suppression-guard.ts";
import { createJetStreamWorkQueue } from "../turns/jetstream-work-queue.ts";
import { createJobWorker } from "../workers/create-job-worker.ts";
import { createJetStreamHelp } from "../workers/jetstream-help.ts";
import { createJetStreamLeaseProbe } from "../workers/jetstream-lease-probe.ts";
import { createJetStreamMembership } from "../workers/jetstream-membership.ts";
import type { JobWork } from "../workers/job-work.ts";
import { slotsOfLarge } from "../workers/slots.ts";
import type { Standstill } from "../workers/standstill.ts";
import { queuePatienceMs, type Worker } from "../workers/worker.ts";
import { openRoutes, startSharingRates } from "./mail-routes-role.ts";
import { type Parts, returnPathsOf } from "./parts.ts";
import { reasonOf } from "./startup.ts";
import { startThrottling } from "./throttles-role.ts";
import { webhooksForWork } from "./webhooks-role.ts";

/** One worker for each kind of job. */
export async function startWorkers(parts: Parts, book: RouteBook): Promise<WorkersView> {
  const { config, contentStore, lifecycle } = parts;
  const routing = openRoutes(parts, book);
  const { mailFrom, emailBatchDelayMs: batchDelayMs, publicUrl } = config;
  const suppressions = startSuppressionGuard(parts);
  const membership = createJetStreamMembership(parts.connection, config.natsPrefix);
  const throttling = startThrottling(parts, routing, membership);
  const returnPaths = await returnPathsOf(parts);
  const slowAtOnce = Math.max(1, Math.floor(config.workerConcurrency / slotsOfLarge / 2));
  const workers = createWorkers(parts, {
    contentStore,
    mail: { routing, mailFrom, batchDelayMs, suppressions, publicUrl, returnPaths, throttling, slowAtOnce },
    reports: reportsForWork(parts),
    webhooks: await webhooksForWork(parts),
  });
  const stopAnswering = workers.map(({ type, name, breaker, routes, worker }) => {
    worker.start();
    return membership.answer(() => ({
      type,
      name,
      busy: worker.busy(),
      slots: worker.slots,
      helping: worker.helping(),
      breaker: breaker(),
      ...(routes !== undefined && { routes: routes() }),
    }));
  });
  startSharingRates(parts, routing, book, membership);
  let stopping: Promise<unknown> | null = null;
  const stop = (): Promise<unknown> => {
    stopping ??= Promise.all(workers.map(({ worker }) => worker.stop(config.shutdownTimeoutMs)));
    return stopping;
  };
  // They have SHUTDOWN_TIMEOUT from its first moment, however long other parts of the process wait for a client meanwhile.
  lifecycle.stopping.addEventListener("abort", () => void stop().catch(() => {}), { once: true });
  const stopAll = async (): Promise<void> => {
    await stop();
    for (const end of stopAnswering) end();
  };
  lifecycle.started("the workers", stopAll, config.shutdownTimeoutMs);
  const standstills = () =>
    workers.flatMap(({ type, worker }) => {
      const standstill = worker.standstill();
      return standstill === null ? [] : [{ type, ...standstill }];
    });
  return { breaker: routing.state, routes: routing.states, standstills };
}

/** Reports read the read models and the log; workers know neither tables nor queries. */
function reportsForWork({ log, db, announcements, results }: Parts): WorkPorts["reports"] {
  const positions = createReadPositions(db, announcements);
  return {
    log,
    results,
    sources: {
      jobs: createReportSource(db, positions, jobReport),
      logs: createReportSource(db, positions, logReport),
      events: createEventSource(log, createTenantStretches(db)),
    },
  };
}

/** Knows the addresses that must not be mailed; adds those that mail servers refuse for good. */
function startSuppressionGuard({ config, logger, connection, log, suppressions, lifecycle }: Parts): SuppressionGuard {
  const digests = createSuppressedDigests(createJetStreamSuppressionEntries(connection, config.natsPrefix));
  lifecycle.started("the suppressed addresses", async () => digests.stop());
  const isErased = async (job: JobRef): Promise<boolean> =>
    (await log.readDecisions(job)).some(({ event }) => event.type === "JobContentErased");
  return createSuppressionGuard(suppressions, digests, isErased, (failure, { job, cause }) =>
    logger.warn({ ...originOf({ ...job, ...cause }), err: failure }, "refused address could not be suppressed"),
  );
}

type NamedWorker = {
  readonly type: JobType;
  readonly name: string;
  readonly breaker: () => BreakerState | null;
  readonly routes: JobWork["routes"];
  readonly worker: Worker;
};

function createWorkers({ config, logger, connection, log, observer }: Parts, ports: WorkPorts): readonly NamedWorker[] {
  const prefix = config.natsPrefix;
  const probe = createJetStreamLeaseProbe(connection, prefix);
  const exchange = createJetStreamHelp(connection, prefix);
  return allJobKinds.map(({ type, createWork }) => {
    // Each worker has a name of its own, because the membership request is answered worker by worker.
    const name = [config.processName, suffixOfKind(type)].filter((part) => part !== null).join("-");
    const work = createWork(ports);
    const queue = createJetStreamWorkQueue(
      connection,
      { prefix, replicas: config.streamReplicas, type, ackWaitMs: queuePatienceMs },
      (notice) => logger.error(notice),
    );
    const worker = createJobWorker(
      { log, probe, exchange, queue: observer.metrics.attempts.measure(queue) },
      work,
      { name, concurrency: config.workerConcurrency, retrySchedule: config.retry },
      {
        turnBrokeOff: (failure, turn) =>
          logger.error({ ...originOf({ ...turn, ...turn.cause }), err: failure }, "turn failed; retrying"),
        helpBrokeOff: (failure, job) =>
          logger.warn({ ...job, err: failure }, "help with a job of another worker failed"),
        standsStill: (standstill, hasEnded) => logStandstill(logger, type, standstill, hasEnded),
      },
    );
    return { type, name, breaker: () => work.breaker?.() ?? null, routes: work.routes, worker };
  });
}

function logStandstill(logger: Logger, type: JobType, standstill: Standstill, hasEnded: boolean): void {
  const { reason, since, forMs, failure } = standstill;
  const fields = { type, reason, since, forSeconds: Math.round(forMs / 1000) };
  if (hasEnded) logger.warn(fields, "the worker takes work again");
  else if (reason === "queue-failed") logger.error({ ...fields, err: failure }, "the worker takes no work");
  else logger.warn({ ...fields, ...(failure !== null && { error: reasonOf(failure) }) }, "the worker takes no work");
}

type Origin = JobRef & Pick<Cause, "correlationId" | "traceparent">;

/** The job, and the request that started it. */
const originOf = ({ jobId, tenant, correlationId, traceparent }: Origin) => ({
  jobId,
  tenant,
  requestId: correlationId ?? undefined,
  traceId: traceIdOf(traceparent),
});
