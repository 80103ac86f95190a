import { hostname } from "node:os";
import { type AuthMode, authModes, isLoopback } from "./access/auth-mode.ts";
import { type AlertSettings, readAlertSettings } from "./alerts/read-alert-settings.ts";
import type { DkimSettings } from "./mail/dkim.ts";
import { readDkim } from "./mail/read-dkim.ts";
import { readNatsSettings } from "./nats/read-nats-settings.ts";
import { isMailbox } from "./schemas/email-address.ts";
import { leastBodyBudget } from "./schemas/job-request.ts";
import { readSealSettings, type SealSettings } from "./seals/read-seal-settings.ts";
import { createSettingReader, type Env, type SettingReader, wholeForm } from "./setting-reader.ts";
import { readPublicUrl } from "./suppressions/read-public-url.ts";
import { readWebhookSettings, type WebhookSettings } from "./webhooks/read-webhook-settings.ts";

export const roles = ["api", "scheduler", "worker", "projector", "webhooks", "outbox"] as const;
export type Role = (typeof roles)[number];

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export type NatsConfig = {
  readonly servers: readonly string[];
  readonly user: string | null;
  readonly password: string | null;
  readonly credsFile: string | null;
  readonly caFile: string | null;
};

/** The schedule of retries: a list of delays, or base × factor ^ (n - 1). A random share of `jitter` is added or taken. */
export type RetryConfig = {
  readonly baseDelayMs: number;
  readonly factor: number;
  readonly jitter: number;
  readonly delaysMs: readonly number[] | null;
};

/** Every setting, read once at start. A null url means: start a server of one's own (see standalone). */
export type Config = {
  readonly host: string;
  readonly port: number;
  /** Where health and metrics are answered without a key; null for nowhere. */
  readonly healthPort: number | null;
  readonly auth: AuthMode;
  /** Requests per minute and key, in each API process; null for no limit. */
  readonly rateLimit: number | null;
  /** Memory for the bodies of all requests that an API process has in hand. */
  readonly bodiesMaxBytes: number;
  readonly nats: NatsConfig | null;
  readonly mysqlUrl: string | null;
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  readonly roles: ReadonlySet<Role>;
  readonly workerConcurrency: number;
  readonly smtpMaxConnections: number;
  readonly emailBatchDelayMs: number;
  readonly maxAttempts: number;
  readonly retry: RetryConfig;
  readonly smtpTimeoutMs: number;
  /** Mails per second of this process; null for no limit. */
  readonly smtpRate: number | null;
  /** Signs every mail; null leaves that to the mail server. */
  readonly dkim: DkimSettings | null;
  /** Where people outside reach the API, for the links in mails; null where no mail can have one. */
  readonly publicUrl: string | null;
  readonly webhooks: WebhookSettings;
  readonly seals: SealSettings;
  readonly alerts: AlertSettings;
  /** After its end a job's content and its rows in the read models are erased; null for never. */
  readonly retentionDays: number | null;
  readonly streamReplicas: number;
  /** Before the names of streams and subjects, where several Waybills share one NATS. */
  readonly natsPrefix: string;
  readonly jobsMaxBytes: number | null;
  readonly dataDir: string;
  readonly mayInstall: boolean;
  readonly autoMigrate: boolean;
  readonly logLevel: (typeof logLevels)[number];
  readonly shutdownTimeoutMs: number;
  /** How long a command tries again where NATS does not answer. */
  readonly commandPatienceMs: number;
  /** Where commands find the running service, and the key they show. */
  readonly serviceUrl: string;
  readonly serviceKey: string | null;
  /** Names this process in the log: host and process id, and a random part to tell restarts apart. */
  readonly processName: string;
};

/** The settings once every server has an address, one that was given or one of Waybill's own. */
export type CompleteConfig = Config & {
  readonly nats: NatsConfig;
  readonly mysqlUrl: string;
  readonly smtpUrl: string;
};

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
  const webhooks = readWebhookSettings(read);
  const config: Config = {
    host: read.text("HOST", "127.0.0.1"),
    port: read.whole("PORT", 3000, 0, 65_535),
    healthPort: read.optionalWhole("HEALTH_PORT", 0, 65_535),
    auth: readAuth(read),
    rateLimit: read.optionalWhole("RATE_LIMIT", 1, 1_000_000),
    bodiesMaxBytes: read.whole("BODIES_MAX_BYTES", 268_435_456, leastBodyBudget, Number.MAX_SAFE_INTEGER),
    nats: readNatsSettings(read),
    mysqlUrl: readMysqlUrl(read),
    smtpUrl: read.url("SMTP_URL", ["smtp:", "smtps:"], "smtp://user:password@host:port or smtps://…"),
    mailFrom: readMailFrom(read),
    roles: readRoles(read),
    workerConcurrency: read.whole("WORKER_CONCURRENCY", 5, 1, 1000),
    smtpMaxConnections: read.whole("SMTP_MAX_CONNECTIONS", 10, 1, 1000),
    emailBatchDelayMs: read.whole("EMAIL_BATCH_DELAY", 0, 0, 3_600_000),
    maxAttempts: read.whole("MAX_ATTEMPTS", 4, 1, 20),
    retry: readRetry(read),
    smtpTimeoutMs: read.whole("SMTP_TIMEOUT", 20_000, 100, 3_600_000),
    smtpRate: read.optionalDecimal("SMTP_RATE", 0.01, 100_000),
    dkim: readDkim(read),
    publicUrl: readPublicUrl(read),
    webhooks,
    seals: readSealSettings(read),
    alerts: readAlertSettings(read, webhooks.allowed),
    retentionDays: read.optionalWhole("RETENTION_DAYS", 1, 36_500),
    streamReplicas: read.whole("STREAM_REPLICAS", 1, 1, 5),
    natsPrefix: readPrefix(read),
    jobsMaxBytes: read.optionalWhole("JOBS_MAX_BYTES", 1_048_576, Number.MAX_SAFE_INTEGER),
    dataDir: read.text("DATA_DIR", ".waybill"),
    mayInstall: read.flag("WAYBILL_INSTALL", true),
    autoMigrate: read.flag("AUTO_MIGRATE", true),
    logLevel: read.oneOf("LOG_LEVEL", "info", logLevels),
    commandPatienceMs: read.whole("COMMAND_PATIENCE", 30_000, 0, 3_600_000),
    shutdownTimeoutMs: read.whole("SHUTDOWN_TIMEOUT", 10_000, 100, 600_000),
    serviceUrl: readServiceUrl(read),
    serviceKey: read.raw("WAYBILL_KEY"),
    processName: `${hostname().replace(/[^A-Za-z0-9_-]/g, "-")}-${process.pid}-${Math.random().toString(36).slice(2, 8)}`,
  };
  if (faults.length > 0) throw new InvalidConfig(faults);
  return config;
}

function readMailFrom(read: SettingReader): string {
  const given = read.text("MAIL_FROM", "Waybill <waybill@localhost>");
  if (!isMailbox(given)) read.fault("MAIL_FROM", given, "one address, as ada@example.com or Ada <ada@example.com>");
  return given;
}

function readAuth(read: SettingReader): AuthMode {
  const auth = read.oneOf("AUTH", "auto", authModes);
  const host = read.text("HOST", "127.0.0.1");
  if (auth === "off" && !isLoopback(host)) {
    read.fault("AUTH", auth, `auto or required, as others can reach HOST ${JSON.stringify(host)}`);
  }
  return auth;
}

/** Without being told, the one that listens on this machine. */
function readServiceUrl(read: SettingReader): string {
  const given = read.url("WAYBILL_URL", ["http:", "https:"], "http://host:port or https://…");
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

/** A month: what is to be tried again later than that is not tried again. */
const longestDelayMs = 2_592_000_000;

function readRetry(read: SettingReader): RetryConfig {
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

/** A server lets nobody in without a database, and read models would have no place. */
function readMysqlUrl(read: SettingReader): string | null {
  const expected = "mysql://user:password@host:port/database";
  const url = read.url("MYSQL_URL", ["mysql:"], expected);
  if (url === null || new URL(url).pathname.length > 1) return url;
  read.fault("MYSQL_URL", url, `${expected}; the database is missing`);
  return null;
}

function readPrefix(read: SettingReader): string {
  const prefix = read.text("NATS_PREFIX", "");
  if (!/^[A-Za-z0-9_-]{0,32}$/.test(prefix)) {
    read.fault("NATS_PREFIX", prefix, "at most 32 letters, digits, _ and -");
  }
  return prefix;
}
