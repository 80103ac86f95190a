import type { Command } from "commander";
import { createSealMemory } from "../../projections/seal-memory.ts";
import { withArchivedMessages } from "../archive/archived-messages.ts";
import { createDatabase } from "../database/database.ts";
import { streamName } from "../event-log/subjects.ts";
import { examineDatabase } from "../health/examine-database.ts";
import { examineMail } from "../health/examine-mail.ts";
import { examineDisk } from "../health/examine-surroundings.ts";
import { type Finding, fine, serious, warning, wordsOf } from "../health/finding.ts";
import { examineNats } from "../health/jetstream-checkup.ts";
import { connectJetStream } from "../nats/connection.ts";
import { CannotStart } from "../process/lifecycle.ts";
import { archiveOf } from "../roles/parts.ts";
import { createJetStreamSealedLog } from "../seals/jetstream-sealed-log.ts";
import { createSealFile } from "../seals/seal-file.ts";
import { askObservers, LogRolledBack } from "../seals/seal-observer.ts";
import type { CompleteConfig } from "../settings/config.ts";
import { whyNoFile } from "./client/file-failure.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { examineReadiness } from "./examine-readiness.ts";
import { examineSecrets } from "./examine-secrets.ts";
import { explain } from "./explain.ts";
import { findServers } from "./find-servers.ts";

type DoctorOptions = { readonly natsMonitor?: string; readonly domain?: string; readonly json?: boolean };

const signs = { fine: "ok      ", warning: "warning ", serious: "SERIOUS " } as const;
const coloursOfLevels = { fine: "green", warning: "yellow", serious: "red" } as const;

/** `doctor`. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("doctor")
    .description("examine NATS, the database, the mail server, clocks and disk, and suggest remedies")
    .option("--nats-monitor <url>", "the monitoring port of NATS, to find how NATS flushes to the disk")
    .option("--domain <domain>", "examine instead what receivers ask of mails from this domain")
    .option("--json", "as JSON")
    .action((options: DoctorOptions) => examine(context, options));
  explain(command, {
    examples: [
      "waybill doctor",
      "waybill doctor --nats-monitor http://127.0.0.1:8222",
      "waybill doctor --domain example.org",
      "waybill doctor --json",
    ],
    asks: "servers",
    exits: ["nothing serious was found", "a finding is serious"],
    notes:
      "SMTP_URL names the mail server. With --domain the settings of the service are compared with DNS; NATS and the database are not asked. GET /readyz of a running service shows whether it and each of its parts are ready.",
  });
}

async function examine(context: CommandContext, { natsMonitor, domain, json }: DoctorOptions): Promise<void> {
  if (natsMonitor !== undefined && !URL.canParse(natsMonitor)) {
    throw new WrongUsage(`--nats-monitor is ${JSON.stringify(natsMonitor)}; expected http://host:8222`);
  }
  const findings = await (domain === undefined
    ? examineAll(context, natsMonitor ?? null)
    : examineReadiness(context, domain));
  const { print, paint } = context;
  if (json) print(JSON.stringify(findings));
  else {
    for (const { level, part, what, advice } of findings) {
      print(`${paint(coloursOfLevels[level], signs[level])} ${part.padEnd(5)}  ${what}`);
      if (advice !== null) print(`${" ".repeat(16)}-> ${advice}`);
    }
  }
  const count = findings.filter(({ level }) => level === "serious").length;
  if (count > 0) throw new CommandFailed(`${count} ${count === 1 ? "finding is" : "findings are"} serious.`);
}

async function examineAll(context: CommandContext, monitorUrl: string | null): Promise<readonly Finding[]> {
  const config = context.readConfig();
  const isOwn = config.nats === null || config.mysqlUrl === null;
  const disk = isOwn ? [await examineDisk(config.dataDir)] : [];
  const servers = await findServers(config, context, "nats-and-database").catch((failure: unknown) => {
    if (failure instanceof CannotStart) return failure;
    // The disk is full, or the folder belongs to another user.
    if (failure instanceof Error && "syscall" in failure) return new CannotStart(whyNoFile(failure));
    throw failure;
  });
  if (servers instanceof CannotStart) {
    return [...disk, serious("nats", "A server of the data folder does not start", servers.message)];
  }
  try {
    const { nats, mysqlUrl, smtpUrl, natsPrefix: prefix, streamReplicas: replicas, smtp, mailFrom } = servers.config;
    const findings = await Promise.all([
      examineNats({ settings: nats, prefix, replicas, monitorUrl, isOwn: config.nats === null }),
      examineDatabase(mysqlUrl),
      smtpUrl === "" ? (config.nats === null ? [] : [notLooked]) : examineMail(smtpUrl, smtp, mailFrom),
    ]);
    const [ofNats, ofDatabase] = findings;
    const isThere = ![...ofNats, ...ofDatabase].some(({ level }) => level === "serious");
    const ofLog = isThere ? [...(await examineSecrets(servers.config)), ...(await examineSeals(servers.config))] : [];
    return [...findings.flat(), ...ofLog, ...disk];
  } finally {
    await servers.stop();
  }
}

const notLooked = warning(
  "smtp",
  "SMTP_URL is not set here: the mail server was not looked at",
  "Run it with the settings of a worker; with Compose: docker compose exec worker node dist/src/main.js doctor",
);

const onRolledBack =
  "Make sure that it is the right log. After a restore: waybill rebuild, waybill seals accept (ops/guides/operator.md).";

/**
 * Whether the log still holds the last seal that was seen in it: a log restored to an earlier state has lost it. Needs
 * both servers. Returns no finding if no seal is remembered.
 */
async function examineSeals(config: CompleteConfig): Promise<readonly Finding[]> {
  const { nats, mysqlUrl, natsPrefix, seals } = config;
  const connection = await connectJetStream(nats, "waybill-doctor", () => {});
  const db = createDatabase(mysqlUrl);
  try {
    const observers = [
      createSealMemory(db, streamName(natsPrefix, "JOBS")),
      ...(seals.file === null ? [] : [createSealFile(seals.file)]),
    ];
    const seen = await Promise.all(observers.map((observer) => observer.last().catch(() => null)));
    if (seen.every((seal) => seal === null)) return [];
    // The last one that was seen may be cut off by now, as where an older copy of the database was put back.
    const ofStream = await createJetStreamSealedLog(connection, natsPrefix);
    const sealedLog = withArchivedMessages(ofStream, archiveOf(connection, config));
    await askObservers({ sealedLog, observers, report: () => {} });
    return [fine("nats", "The log holds the last seal that was seen in it")];
  } catch (failure) {
    if (failure instanceof LogRolledBack) return [serious("nats", failure.what, onRolledBack)];
    return [warning("nats", `What the log was sealed with cannot be read: ${wordsOf(failure)}`, onRolledBack)];
  } finally {
    await db.destroy();
    await connection.close();
  }
}
