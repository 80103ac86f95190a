import { hostname } from "node:os";
import { type AuthMode, authModes } from "../access/auth-mode.ts";
import { isLoopback } from "../domain/loopback.ts";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import { leastBodyBudget } from "../schemas/job-request.ts";
import { readAlertSettings } from "./alert-settings.ts";
import { readDkim } from "./dkim-settings.ts";
import { readDnsServers } from "./dns-settings.ts";
import {
  readBounces,
  readFeedbackAddresses,
  readMailFrom,
  readMailProviders,
  readPublicUrl,
  readReturnPath,
  readSmtp,
  readSmtpUrl,
} from "./mail-settings.ts";
import { readNatsSettings, readPrefix } from "./nats-settings.ts";
import { readSealSettings } from "./seal-settings.ts";
import { defaultDataDir, readSecretsKeyFile } from "./secret-settings.ts";
import { createSettingReader, type Env, type SettingReader, wholeForm } from "./setting-reader.ts";
import { readWebhookSettings } from "./webhook-settings.ts";

export const roles = ["api", "scheduler", "worker", "projector", "webhooks", "outbox", "bounces"] as const;
export type Role = (typeof roles)[number];

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** Every setting, read once at start: its name, default and bounds, and what it means. */
export type Config = Readonly<ReturnType<typeof readAll>>;

export type NatsConfig = Readonly<NonNullable<Config["nats"]>>;

function readAll(read: SettingReader) {
  const webhooks = readWebhookSettings(read);
  return {
    host: read.text("HOST", "127.0.0.1"),
    port: read.whole("PORT", 3000, 0, 65_535),
    /** The port that serves health and metrics without a key; null for none. */
    healthPort: read.optionalWhole("HEALTH_PORT", 0, 65_535),
    auth: readAuth(read),
    /** Requests per minute and key, in each API process; null for no limit. */
    rateLimit: read.optionalWhole("RATE_LIMIT", 1, 1_000_000),
    /** A mailing with more recipients needs the approval of another key; null for no limit. Tenants may have lower ones. */
    approvalAbove: read.optionalWhole("APPROVAL_ABOVE", 0, 1_000_000_000),
    /** Memory for the bodies of all requests that an API process handles at a time. */
    bodiesMaxBytes: read.whole("BODIES_MAX_BYTES", 268_435_456, leastBodyBudget, Number.MAX_SAFE_INTEGER),
    /** The addresses of servers; null: Waybill starts its own server (see standalone). */
    nats: readNatsSettings(read),
    mysqlUrl: readMysqlUrl(read),
    smtpUrl: readSmtpUrl(read),
    mailFrom: readMailFrom(read),
    /** The address to which mail servers report what did not arrive; null: mails have their sender as return path. */
    mailReturnPath: readReturnPath(read),
    /** Where receivers send complaints about the mails of these domains. */
    feedbackAddresses: readFeedbackAddresses(read),
    bounces: readBounces(read),
    roles: readRoles(read),
    workerConcurrency: read.whole("WORKER_CONCURRENCY", 20, 1, 1000),
    smtpMaxConnections: read.whole("SMTP_MAX_CONNECTIONS", 10, 1, 1000),
    emailBatchDelayMs: read.whole("EMAIL_BATCH_DELAY", 0, 0, 3_600_000),
    maxAttempts: read.whole("MAX_ATTEMPTS", 4, 1, 20),
    retry: readRetry(read),
    smtp: readSmtp(read),
    /** Mails per second on the default route, of all workers together; null for no limit. */
    smtpRate: read.optionalDecimal("SMTP_RATE", 0.01, 100_000),
    /** Whether receivers that ask for patience are slowed down. */
    mailThrottling: read.flag("MAIL_THROTTLING", true),
    /** Domains that are one receiver, beside the well-known ones. */
    mailProviders: readMailProviders(read),
    /** The keys that sign mails; null leaves that to the mail server. */
    dkim: readDkim(read),
    /** The name servers of `waybill doctor --domain`; null: those of this host. */
    dnsServers: readDnsServers(read),
    /** The URL at which recipients reach the API, for the links in mails; null: Waybill adds no links. */
    publicUrl: readPublicUrl(read),
    /** So many soft bounces of an address within so many days put it on the suppression list. */
    softBounces: {
      limit: read.whole("SOFT_BOUNCE_LIMIT", 5, 1, 1000),
      days: read.whole("SOFT_BOUNCE_DAYS", 30, 1, 365),
    },
    webhooks,
    seals: readSealSettings(read),
    alerts: readAlertSettings(read, webhooks.allowed),
    /** Days from the end of a job until its content and its rows in the read models are erased; null for never. */
    retentionDays: read.optionalWhole("RETENTION_DAYS", 1, 36_500),
    /** The directory with the files of the archive; null: this process answers nothing from them. */
    archiveDir: read.raw("ARCHIVE_DIR"),
    /** Younger entries are never archived: a request that was suspended for long must find its job in the log. */
    archiveAfterHours: read.whole("ARCHIVE_AFTER_HOURS", 24, 0, 8760),
    streamReplicas: read.whole("STREAM_REPLICAS", 1, 1, 5),
    /** A process that was not told how many replicas there are leaves existing streams as they are. */
    areReplicasSet: read.raw("STREAM_REPLICAS") !== null,
    /** A prefix for the names of streams and subjects, for several Waybills that share one NATS. */
    natsPrefix: readPrefix(read),
    jobsMaxBytes: read.optionalWhole("JOBS_MAX_BYTES", 1_048_576, Number.MAX_SAFE_INTEGER),
    dataDir: read.text("DATA_DIR", defaultDataDir),
    /** The file with the keys that encrypt stored secrets; null: they are stored in clear. */
    secretsKeyFile: readSecretsKeyFile(read),
    mayInstall: read.flag("WAYBILL_INSTALL", true),
    autoMigrate: read.flag("AUTO_MIGRATE", true),
    logLevel: read.oneOf("LOG_LEVEL", "info", logLevels),
    /** How long a command retries while NATS does not answer. */
    commandPatienceMs: read.whole("COMMAND_PATIENCE", 30_000, 0, 3_600_000),
    shutdownTimeoutMs: read.whole("SHUTDOWN_TIMEOUT", 10_000, 100, 600_000),
    /** The URL at which commands find the running service, and the key that they send. */
    serviceUrl: readServiceUrl(read),
    /** Whether a setting names the service; if none does, a profile of the command line may. */
    isServiceNamed: read.raw("WAYBILL_URL") !== null,
    /** The profile of the command line to use, if WAYBILL_URL is not set. */
    serviceProfile: read.raw("WAYBILL_PROFILE"),
    serviceKey: read.raw("WAYBILL_KEY"),
    /** The name of this process in the log: host, process id, and a random part that distinguishes restarts. */
    processName: `${hostname().replace(/[^A-Za-z0-9_-]/g, "-")}-${process.pid}-${Math.random().toString(36).slice(2, 8)}`,
  };
}

/** The settings once every server has an address, either a configured one or that of a server that Waybill started. */
export type CompleteConfig = Config & {
  readonly nats: NatsConfig;
  readonly mysqlUrl: string;
  readonly smtpUrl: string;
};

/** Whether a process with these settings hands mails to the mail server of SMTP_URL: those of jobs, alerts or seals. */
export const sendsMails = ({ roles, alerts, seals }: Pick<Config, "roles" | "alerts" | "seals">): boolean =>
  roles.has("worker") ||
  (roles.has("webhooks") && alerts.mailTo.length > 0) ||
  (roles.has("scheduler") && seals.mailTo !== null);

/** The mail server of a process that sends no mails and has no SMTP_URL. The name never resolves (RFC 2606). */
export const mailServerOfWorkers = "smtp://known-to-workers.invalid";

/** All faults of the environment at once. */
export class InvalidConfig extends Error {
  override readonly name = "InvalidConfig";

  constructor(faults: readonly string[]) {
    super(["The settings are not valid:", ...faults.map((fault) => `  ${fault}`)].join("\n"));
  }
}

/** Reads every setting; throws InvalidConfig with all faults, each with its value (secrets masked) and what was expected. */
export function readConfig(env: Env): Config {
  const faults: string[] = [];
  const read = createSettingReader(env, faults);
  const config = readAll(read);
  // A mailbox of its own would swallow them: nothing shows it.
  if (sendsMails(config) && !config.roles.has("worker") && config.smtpUrl === null) {
    const name = config.alerts.mailTo.length > 0 && config.roles.has("webhooks") ? "ALERT_MAIL_TO" : "SEAL_MAIL_TO";
    read.fault(name, read.raw(name) ?? "", "SMTP_URL beside it, as these roles have no mailbox");
  }
  if (faults.length > 0) throw new InvalidConfig(faults);
  return config;
}

function readAuth(read: SettingReader): AuthMode {
  const auth = read.oneOf("AUTH", "auto", authModes);
  const host = read.text("HOST", "127.0.0.1");
  if (auth === "off" && !isLoopback(host)) {
    read.fault("AUTH", auth, `auto or required, as others can reach HOST ${JSON.stringify(host)}`);
  }
  return auth;
}

/** The default is the service on this machine. */
function readServiceUrl(read: SettingReader): string {
  const expected = "http://host:port or https://…";
  const given = read.url("WAYBILL_URL", ["http:", "https:"], expected);
  // `fetch` sends none of them, and refuses the URL.
  if (given !== null && new URL(given).username + new URL(given).password !== "")
    read.fault("WAYBILL_URL", given, `${expected} without user and password; the key goes into WAYBILL_KEY`);
  if (given !== null) return given.replace(/\/+$/, "");
  const host = read.text("HOST", "127.0.0.1");
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${read.text("PORT", "3000")}`;
}

function readRoles(read: SettingReader): ReadonlySet<Role> {
  const known: readonly string[] = roles;
  const expected = `some of ${roles.join(",")}`;
  const asked = read.list("ROLES", { isItem: (item) => known.includes(item), expected });
  return new Set(roles.filter((role) => asked === null || asked.includes(role)));
}

/** A month. A retry that is due later would in effect never run. */
const longestDelayMs = 2_592_000_000;

function readRetry(read: SettingReader): RetrySchedule {
  const delays = read.list("RETRY_DELAYS", {
    isItem: (item) => wholeForm.test(item) && Number(item) <= longestDelayMs,
    expected: `whole numbers of milliseconds from 0 to ${longestDelayMs} with commas between`,
    mayRepeat: true,
  });
  return {
    baseDelayMs: read.whole("RETRY_BASE_DELAY", 60_000, 0, 86_400_000),
    factor: read.decimal("RETRY_FACTOR", 2, 1, 100),
    jitter: read.decimal("RETRY_JITTER", 0.1, 0, 1),
    delaysMs: delays?.map(Number) ?? null,
  };
}

/** A server accepts no connection that names no database, and the tables of the read models need one. */
function readMysqlUrl(read: SettingReader): string | null {
  const expected = "mysql://user:password@host:port/database";
  const url = read.url("MYSQL_URL", ["mysql:"], expected);
  if (url === null || new URL(url).pathname.length > 1) return url;
  read.fault("MYSQL_URL", url, `${expected}; the database is missing`);
  return null;
}
