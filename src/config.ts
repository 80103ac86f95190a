import { hostname } from "node:os";

export const roles = ["api", "scheduler", "worker", "projector"] as const;
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
  readonly streamReplicas: number;
  /** Before the names of streams and subjects, where several Waybills share one NATS. */
  readonly natsPrefix: string;
  readonly jobsMaxBytes: number | null;
  readonly dataDir: string;
  readonly mayInstall: boolean;
  readonly autoMigrate: boolean;
  readonly logLevel: (typeof logLevels)[number];
  readonly shutdownTimeoutMs: number;
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

type Env = Readonly<Record<string, string | undefined>>;

/** Reads every setting; throws InvalidConfig with all faults, each with its value (secrets masked) and what was expected. */
export function readConfig(env: Env): Config {
  const faults: string[] = [];
  const read = createReader(env, faults);
  const config: Config = {
    host: read.text("HOST", "127.0.0.1"),
    port: read.whole("PORT", 3000, 0, 65_535),
    nats: readNats(read),
    mysqlUrl: read.url("MYSQL_URL", ["mysql:"], "mysql://user:password@host:port/database"),
    smtpUrl: read.url("SMTP_URL", ["smtp:", "smtps:"], "smtp://user:password@host:port or smtps://…"),
    mailFrom: read.text("MAIL_FROM", "Waybill <waybill@localhost>"),
    roles: readRoles(read, faults),
    workerConcurrency: read.whole("WORKER_CONCURRENCY", 5, 1, 1000),
    smtpMaxConnections: read.whole("SMTP_MAX_CONNECTIONS", 10, 1, 1000),
    emailBatchDelayMs: read.whole("EMAIL_BATCH_DELAY", 0, 0, 3_600_000),
    maxAttempts: read.whole("MAX_ATTEMPTS", 4, 1, 20),
    retry: readRetry(read, faults),
    smtpTimeoutMs: read.whole("SMTP_TIMEOUT", 20_000, 100, 3_600_000),
    smtpRate: read.optionalDecimal("SMTP_RATE", 0.01, 100_000),
    streamReplicas: read.whole("STREAM_REPLICAS", 1, 1, 5),
    natsPrefix: readPrefix(read, faults),
    jobsMaxBytes: read.optionalWhole("JOBS_MAX_BYTES", 1_048_576, Number.MAX_SAFE_INTEGER),
    dataDir: read.text("DATA_DIR", ".waybill"),
    mayInstall: read.flag("WAYBILL_INSTALL", true),
    autoMigrate: read.flag("AUTO_MIGRATE", true),
    logLevel: read.oneOf("LOG_LEVEL", "info", logLevels),
    shutdownTimeoutMs: read.whole("SHUTDOWN_TIMEOUT", 10_000, 100, 600_000),
    processName: `${hostname().replace(/[^A-Za-z0-9_-]/g, "-")}-${process.pid}-${Math.random().toString(36).slice(2, 8)}`,
  };
  if (faults.length > 0) throw new InvalidConfig(faults);
  return config;
}

type Reader = ReturnType<typeof createReader>;

function createReader(env: Env, faults: string[]) {
  const raw = (name: string): string | null => env[name]?.trim() || null;
  const fault = (name: string, value: string, expected: string): void => {
    faults.push(`${name} is ${JSON.stringify(masked(value))}; expected ${expected}`);
  };
  const optionalWhole = (name: string, min: number, max: number): number | null => {
    const value = raw(name);
    if (value === null) return null;
    const number = Number(value);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    fault(name, value, `a whole number from ${min} to ${max}`);
    return null;
  };
  const optionalDecimal = (name: string, min: number, max: number): number | null => {
    const value = raw(name);
    if (value === null) return null;
    const number = Number(value);
    if (Number.isFinite(number) && number >= min && number <= max) return number;
    fault(name, value, `a number from ${min} to ${max}`);
    return null;
  };
  return {
    raw,
    fault,
    optionalWhole,
    text: (name: string, fallback: string): string => raw(name) ?? fallback,
    whole: (name: string, fallback: number, min: number, max: number): number =>
      optionalWhole(name, min, max) ?? fallback,
    optionalDecimal,
    decimal: (name: string, fallback: number, min: number, max: number): number =>
      optionalDecimal(name, min, max) ?? fallback,
    flag: (name: string, fallback: boolean): boolean => {
      const value = raw(name)?.toLowerCase() ?? null;
      if (value === null) return fallback;
      if (["true", "yes", "1", "on"].includes(value)) return true;
      if (["false", "no", "0", "off"].includes(value)) return false;
      fault(name, value, "true or false");
      return fallback;
    },
    oneOf: <Choice extends string>(name: string, fallback: Choice, choices: readonly Choice[]): Choice => {
      const value = raw(name);
      const choice = choices.find((candidate) => candidate === value);
      if (value !== null && choice === undefined) fault(name, value, `one of ${choices.join(", ")}`);
      return choice ?? fallback;
    },
    url: (name: string, protocols: readonly string[], expected: string): string | null => {
      const value = raw(name);
      if (value === null) return null;
      if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value;
      fault(name, value, expected);
      return null;
    },
  };
}

function readNats(read: Reader): NatsConfig | null {
  const urls = read.raw("NATS_URL");
  if (urls === null) return null;
  return {
    servers: urls.split(",").map((url) => url.trim()),
    user: read.raw("NATS_USER"),
    password: read.raw("NATS_PASSWORD"),
    credsFile: read.raw("NATS_CREDS"),
    caFile: read.raw("NATS_TLS_CA"),
  };
}

function readRoles(read: Reader, faults: string[]): ReadonlySet<Role> {
  const value = read.raw("ROLES");
  if (value === null) return new Set(roles);
  const asked = value.split(",").map((role) => role.trim());
  const known = roles.filter((role) => asked.includes(role));
  if (known.length !== new Set(asked).size) {
    faults.push(`ROLES is ${JSON.stringify(value)}; expected some of ${roles.join(",")}`);
  }
  return new Set(known);
}

function readRetry(read: Reader, faults: string[]): RetryConfig {
  const list = read.raw("RETRY_DELAYS");
  const delaysMs = list === null ? null : list.split(",").map(Number);
  if (delaysMs?.some((delay) => !Number.isInteger(delay) || delay < 0)) {
    faults.push(`RETRY_DELAYS is ${JSON.stringify(list)}; expected whole numbers of milliseconds with commas between`);
  }
  return {
    baseDelayMs: read.whole("RETRY_BASE_DELAY", 60_000, 0, 86_400_000),
    factor: read.decimal("RETRY_FACTOR", 2, 1, 100),
    jitter: read.decimal("RETRY_JITTER", 0.1, 0, 1),
    delaysMs,
  };
}

function readPrefix(read: Reader, faults: string[]): string {
  const prefix = read.text("NATS_PREFIX", "");
  if (!/^[A-Za-z0-9_-]{0,32}$/.test(prefix)) {
    faults.push(`NATS_PREFIX is ${JSON.stringify(prefix)}; expected at most 32 letters, digits, _ and -`);
  }
  return prefix;
}

/** A value as it may be printed: without the password of a URL. */
const masked = (value: string): string => value.replace(/(\/\/[^:@/]*:)[^@]*@/, "$1***@");
