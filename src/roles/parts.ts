import type { Knex } from "knex";
import type { Logger } from "pino";
import { type Archive, createArchive } from "../archive/archive.ts";
import { withArchive } from "../archive/archived-log.ts";
import { createJetStreamArchiveIndex } from "../archive/jetstream-archive-index.ts";
import type { ContentStore } from "../content/content-store.ts";
import { createJetStreamContentStore } from "../content/jetstream-content-store.ts";
import { createJetStreamResultStore } from "../content/jetstream-result-store.ts";
import { createJetStreamTemplateStore } from "../content/jetstream-template-store.ts";
import type { ResultStore } from "../content/result-store.ts";
import { observeContents } from "../content/stored-content.ts";
import type { TemplateStore } from "../content/template-store.ts";
import { createDatabase, type DatabaseOptions, readingOptions, searchingOptions } from "../database/database.ts";
import type { EventLog } from "../event-log/event-log.ts";
import type { Announcements } from "../event-log/following/announcements.ts";
import { createJetStreamAnnouncements } from "../event-log/following/jetstream-announcements.ts";
import { shareFollowing } from "../event-log/following/share-following.ts";
import { createJetStreamEventLog } from "../event-log/jetstream-event-log.ts";
import { createJetStreamLogRoom } from "../event-log/jetstream-log-room.ts";
import { adjustReplicas } from "../event-log/jetstream-replicas.ts";
import { ensureStreams } from "../event-log/jetstream-streams.ts";
import type { LogRoom } from "../event-log/log-room.ts";
import { observeAppends } from "../event-log/observe-appends.ts";
import { jobOfSubject, streamName } from "../event-log/subjects.ts";
import { describeRefusal } from "../health/jetstream-checkup.ts";
import type { Mailbox } from "../http/routes/mailbox.ts";
import { createMailTokens, createReturnPaths, type ReturnPaths } from "../mail/return-path.ts";
import { connectJetStream, type JetStreamConnection } from "../nats/connection.ts";
import { type Patience, WaitInterrupted } from "../nats/patience.ts";
import { whyNoReplicas } from "../nats/server-version.ts";
import { CannotStart, type Lifecycle } from "../process/lifecycle.ts";
import { describeFailure } from "../process/logger.ts";
import type { CompleteConfig } from "../settings/config.ts";
import { keyFor } from "../suppressions/address-digest.ts";
import { createJetStreamSuppressionStore } from "../suppressions/jetstream-suppression-store.ts";
import type { SuppressionStore } from "../suppressions/suppression-store.ts";
import { createObserver, type Observer } from "./monitoring.ts";

/** What every role works with. */
export type Parts = {
  readonly config: CompleteConfig;
  readonly logger: Logger;
  readonly connection: JetStreamConnection;
  /** With what is archived of it. */
  readonly log: EventLog;
  /** The same log, for those who follow it: read once for all of them. */
  readonly followed: EventLog;
  readonly archive: Archive;
  readonly room: LogRoom;
  readonly contentStore: ContentStore;
  readonly results: ResultStore;
  readonly suppressions: SuppressionStore;
  readonly announcements: Announcements;
  readonly db: Knex;
  /** For queries that a client waits for, and for searches and exports. Each has its own pool and does not delay the others. */
  readonly reads: Knex;
  readonly searches: Knex;
  readonly mailbox: Mailbox | null;
  readonly observer: Observer;
  readonly lifecycle: Lifecycle;
  /** Repeats the requests that a role makes to NATS while it starts. */
  readonly patiently: Patience;
};

/**
 * The share of SHUTDOWN_TIMEOUT after which a stopping process gives up the database. Detecting a frozen database takes
 * longer than the whole of SHUTDOWN_TIMEOUT. Work that was not committed by then is repeated later.
 */
const shareForDatabase = 0.4;

/** Connects what every role needs, and every command on the read models. Throws CannotStart if waiting does not help. */
export async function connectParts(
  config: CompleteConfig,
  logger: Logger,
  mailbox: Mailbox | null,
  lifecycle: Lifecycle,
  patiently: Patience,
  databaseOptions: DatabaseOptions = {},
): Promise<Parts> {
  const prefix = config.natsPrefix;
  const notice = (message: string): void => logger.warn(message);
  const connection = await connectOrExplain(config, notice, patiently);
  lifecycle.started("the connection to NATS", connection.close);
  const replicas = config.areReplicasSet ? config.streamReplicas : null;
  await patiently(() => ensureStreams(connection, { prefix, replicas, maxBytes: config.jobsMaxBytes }));
  if (replicas !== null) await adjustReplicas(connection, prefix, replicas).catch(replicasLeft(logger));
  const archive = archiveOf(connection, config);
  const fault = await patiently(archive.indexFault);
  if (fault !== null) throw new CannotStart(`${fault} Keys of archived jobs would be taken again.\n${indexAdvice}`);
  const room = await createJetStreamLogRoom(connection, prefix);
  const observer = createObserver(connection, logger);
  const givenUp = abortedAfter(lifecycle.stopping, config.shutdownTimeoutMs * shareForDatabase);
  const db = createDatabase(config.mysqlUrl, { ...databaseOptions, givenUp });
  const reads = createDatabase(config.mysqlUrl, { ...readingOptions, givenUp });
  const searches = createDatabase(config.mysqlUrl, { ...searchingOptions, givenUp });
  lifecycle.started("the database connections", async () => {
    await Promise.all([db, reads, searches].map((pool) => pool.destroy()));
  });
  const stream = observeAppends(await createJetStreamEventLog(connection, prefix, room.stored), observer.appended);
  const log = withArchive(stream, archive, prefix);
  return {
    config,
    logger,
    connection,
    lifecycle,
    mailbox,
    db,
    reads,
    searches,
    room,
    observer,
    patiently,
    log,
    followed: shareFollowing(log),
    archive,
    contentStore: observeContents(
      await createJetStreamContentStore(connection, prefix, config.streamReplicas),
      observer.contentStored,
    ),
    results: createJetStreamResultStore(connection, { prefix, replicas: config.streamReplicas }),
    suppressions: createJetStreamSuppressionStore(connection, prefix),
    announcements: createJetStreamAnnouncements(connection, prefix),
  };
}

/** A node that is away keeps the cluster from making replicas, and must not keep this process from starting. */
const replicasLeft =
  (logger: Logger) =>
  (failure: unknown): void =>
    logger.warn(
      { error: describeFailure(failure) },
      "streams have other than STREAM_REPLICAS copies; the next start tries again",
    );

export const indexAdvice =
  "Make it again from the files: waybill archive --before 1970-01-01 --to <directory of the files>; or restore the bucket ARCHIVE.";

/** The archive as this process has it. */
export const archiveOf = (
  connection: JetStreamConnection,
  { natsPrefix: prefix, streamReplicas: replicas, archiveDir }: CompleteConfig,
): Archive =>
  createArchive(createJetStreamArchiveIndex(connection, { prefix, replicas }), archiveDir, jobOfSubject(prefix));

/** The letters that requests may name. */
export const templatesOf = ({ config, connection, patiently }: Parts): Promise<TemplateStore> =>
  patiently(() =>
    createJetStreamTemplateStore(connection, { prefix: config.natsPrefix, replicas: config.streamReplicas }),
  );

/** Null without MAIL_RETURN_PATH. */
export async function returnPathsOf({ config, suppressions, patiently }: Parts): Promise<ReturnPaths | null> {
  if (config.mailReturnPath === null) return null;
  const tokens = await mailTokensOf({ suppressions, patiently });
  return createReturnPaths(tokens, config.mailReturnPath, config.feedbackAddresses);
}

/** All processes that share the suppression lists make the same tokens. */
export const mailTokensOf = async ({ suppressions, patiently }: Pick<Parts, "suppressions" | "patiently">) =>
  createMailTokens(keyFor(await patiently(suppressions.secret), "return path"));

/** Aborts `delayMs` after `signal`, unless the process has ended by then. */
function abortedAfter(signal: AbortSignal, delayMs: number): AbortSignal {
  const later = new AbortController();
  const begin = (): unknown => setTimeout(() => later.abort(), delayMs).unref();
  if (signal.aborted) begin();
  else signal.addEventListener("abort", begin, { once: true });
  return later.signal;
}

/** Throws CannotStart; its message contains the remedy. */
export async function connectOrExplain(
  { nats, natsPrefix, processName, streamReplicas }: CompleteConfig,
  notice: (message: string) => void,
  patiently: Patience,
): Promise<JetStreamConnection> {
  let connection: JetStreamConnection;
  try {
    connection = await connectJetStream(nats, processName, notice, patiently, {
      judgedBy: streamName(natsPrefix, "JOBS"),
      asked: [streamName(natsPrefix, "JOBS"), streamName(natsPrefix, "CONTENT")],
    });
  } catch (failure) {
    if (failure instanceof WaitInterrupted) throw failure;
    const { what, advice } = describeRefusal(nats, failure);
    throw new CannotStart(`${what}\n${advice}`, { cause: failure });
  }
  const examine = () => whyNoReplicas(connection.nats.info?.version ?? "", streamReplicas);
  const fault = examine();
  if (fault !== null) {
    await connection.close();
    throw new CannotStart(`${fault.what}.\n${fault.advice}`);
  }
  // The connection may have moved to a node that was not upgraded, or was downgraded.
  connection.onReconnect(() => {
    const later = examine();
    if (later !== null) notice(`${later.what}. ${later.advice}`);
  });
  return connection;
}
