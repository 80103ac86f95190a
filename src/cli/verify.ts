import { open, readFile } from "node:fs/promises";
import type { Command } from "commander";
import { withArchive } from "../archive/archived-log.ts";
import { withArchivedMessages } from "../archive/archived-messages.ts";
import { createRecordedFiles } from "../archive/recorded-files.ts";
import { createJetStreamContentStore } from "../content/jetstream-content-store.ts";
import { defaultTenant } from "../domain/tenant.ts";
import { createJetStreamEventLog } from "../event-log/jetstream-event-log.ts";
import { printable } from "../process/terminal-line.ts";
import { sealingOf } from "../roles/sealing.ts";
import { allPassed, type LogSource, type Trust } from "../seals/check.ts";
import { makeEvidence } from "../seals/evidence.ts";
import { linesOfEvidence } from "../seals/evidence-report.ts";
import { bucketOfSeals, createJetStreamSealStore } from "../seals/jetstream-seal-store.ts";
import { createJetStreamSealedLog } from "../seals/jetstream-sealed-log.ts";
import { claimsToBeLogFile, headOfLogFile, NotALogFile, openLogFile } from "../seals/log-file.ts";
import { linesOfLog, whyNotWhole } from "../seals/log-report.ts";
import { NotASealFile, readPublishedSeals } from "../seals/seal-file.ts";
import { newSealKey, readPublicKey } from "../seals/seal-key.ts";
import { verifyEvidence } from "../seals/verify-evidence.ts";
import { type LogReport, verifyLog } from "../seals/verify-log.ts";
import { archiveFor, checkArchive, findInBucket } from "./check-archive.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onNats } from "./on-servers.ts";
import { createProgressLine } from "./progress-line.ts";

type VerifyOptions = {
  readonly job?: string;
  readonly tenant: string;
  readonly key?: readonly string[];
  readonly seals?: string;
  readonly archive?: string;
  readonly json?: boolean;
};

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** `verify`: exits with 0 if everything is as it was sealed, 1 if something is not, 2 for wrong usage. */
export function addVerifyCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("verify")
    .description("check the log against its seals, or check an exported log or a bundle of evidence without a server")
    .argument("[file]", "a bundle of evidence, or the output of waybill log export")
    .option("--job <id>", "check the evidence of one job or mailing, from the log")
    .option("--tenant <tenant>", "the tenant of the job", defaultTenant)
    .option("--key <file>", "a public key that you trust, as PEM or JSON; may be repeated", collect)
    .option("--seals <file>", "a file of published seals (SEAL_FILE) that you trust")
    .option("--archive <directory>", "the directory with the files of the archive (default: ARCHIVE_DIR)")
    .option("--json", "as JSON")
    .action((file: string | undefined, options: VerifyOptions) => verify(context, file, options));
  explain(command, {
    examples: [
      "waybill verify                                      the whole log against its seals",
      "waybill verify --archive /srv/archive               files and log as one, once a part is archived",
      "waybill verify --job <id>                           the history of one job, from the log",
      "waybill verify job.ndjson --key public-key.pem      output of waybill jobs evidence, on any machine",
      "waybill verify log.ndjson --seals published.ndjson  output of waybill log export",
    ],
    asks: "nats",
    exits: ["everything sealed is unchanged", "something sealed was changed; for a log: or nothing is sealed"],
    notes: "A file is checked without a server. Only --key and --seals make it a proof: get them from another source.",
  });
}

async function verify(context: CommandContext, file: string | undefined, options: VerifyOptions): Promise<void> {
  if (file !== undefined && options.job !== undefined) throw new WrongUsage("Expected a file or --job, not both");
  const trust = await readTrust(options);
  if (file === undefined && options.job === undefined) return await verifyOwnLog(context, trust, options);
  if (file === undefined) return await verifyOwnJob(context, trust, options);
  if (claimsToBeLogFile(await startOf(file))) return await verifyLogFile(context, file, trust, options);
  tellEvidence(context, await readFile(file), trust, options);
}

async function readTrust({ key: files = [], seals }: VerifyOptions): Promise<Trust> {
  const keys = await Promise.all(
    files.map(async (file) => {
      const key = readPublicKey(await readFile(file, "utf8").catch(() => ""));
      if (key === null)
        throw new WrongUsage(`--key is ${JSON.stringify(file)}; expected a file with a public Ed25519 key`);
      return key;
    }),
  );
  try {
    return { keys, seals: seals === undefined ? new Map() : await readSomeSeals(seals) };
  } catch (failure) {
    if (failure instanceof NotASealFile) throw new CommandFailed(`--seals: ${failure.message}`);
    throw new WrongUsage(`--seals: there is no file ${JSON.stringify(seals)} that could be read`);
  }
}

/** A file without a seal would be no comparison at all, and look like one that found nothing. */
async function readSomeSeals(path: string): Promise<Trust["seals"]> {
  const seals = await readPublishedSeals(path);
  if (seals.size === 0) throw new NotASealFile(`${path} holds no seal, so nothing can be compared with it`);
  return seals;
}

async function startOf(path: string): Promise<string> {
  const file = await open(path).catch(() => {
    throw new WrongUsage(`There is no file ${JSON.stringify(path)} that could be read`);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(200), 0, 200, 0);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } finally {
    await file.close();
  }
}

async function verifyLogFile(
  context: CommandContext,
  file: string,
  trust: Trust,
  options: VerifyOptions,
): Promise<void> {
  try {
    const { lastSequence } = await headOfLogFile(file);
    const report = await verifyWithProgress(context, openLogFile(file), trust, lastSequence);
    tellLog(context, report, lastSequence, trust, options);
  } catch (failure) {
    throw failure instanceof NotALogFile ? new CommandFailed(failure.message) : failure;
  }
}

/** Trusts the current key of the service: a log sealed with another key is not its own. */
async function verifyOwnLog(context: CommandContext, trust: Trust, options: VerifyOptions): Promise<void> {
  await onNats(context, async (connection, config, patiently) => {
    const { natsPrefix: prefix, streamReplicas: replicas, seals } = config;
    const archive = archiveFor(connection, config, options);
    const files = await checkArchive(context, archive, options);
    const recorded = createRecordedFiles(prefix);
    const sealedLog = withArchivedMessages(await createJetStreamSealedLog(connection, prefix), archive);
    const sealing = sealingOf(config, bucketOfSeals);
    const store = await patiently(() => createJetStreamSealStore(connection, { prefix, replicas }, sealing));
    const own = seals.key ?? (await patiently(store.readKey));
    const known = trust.keys.length > 0 || own === null ? trust : { ...trust, keys: [own.publicKey] };
    const { lastSequence } = await patiently(sealedLog.state);
    const source: LogSource = { messages: (after, which) => recorded.noting(sealedLog.messages(after, which)) };
    const report = await verifyWithProgress(context, source, known, lastSequence);
    const findings = [...report.findings, ...(await findInBucket(files, recorded, archive))];
    tellLog(context, { ...report, findings }, null, known, options);
  });
}

async function verifyOwnJob(context: CommandContext, trust: Trust, options: VerifyOptions): Promise<void> {
  const jobId = options.job ?? "";
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(jobId))
    throw new WrongUsage(`--job is ${JSON.stringify(jobId)}; expected a job's id`);
  const bundle = await onNats(context, async (connection, config, patiently) => {
    const { natsPrefix: prefix, streamReplicas: replicas, seals } = config;
    const sealing = sealingOf(config, bucketOfSeals);
    const store = await patiently(() => createJetStreamSealStore(connection, { prefix, replicas }, sealing));
    const archive = archiveFor(connection, config, options);
    const sources = {
      log: withArchive(await createJetStreamEventLog(connection, prefix), archive, prefix),
      sealedLog: withArchivedMessages(await createJetStreamSealedLog(connection, prefix), archive),
      contentStore: await createJetStreamContentStore(connection, prefix),
      // Without a key there is no seal either, and only this command sees this bundle.
      key: seals.key ?? (await patiently(store.readKey)) ?? newSealKey(),
      now: () => new Date().toISOString(),
    };
    return await patiently(() => makeEvidence(sources, { tenant: options.tenant, jobId }));
  });
  if (bundle === null) throw new CommandFailed(`There is no job or mailing ${jobId} of tenant ${options.tenant}`);
  tellEvidence(context, Buffer.from(bundle), trust, options);
}

async function verifyWithProgress(
  context: CommandContext,
  source: LogSource,
  trust: Trust,
  lastSequence: number,
): Promise<LogReport> {
  const progress = createProgressLine(context);
  try {
    return await verifyLog(source, trust, (sequence) => progress.show(sequence, lastSequence, "messages"));
  } finally {
    progress.end();
  }
}

function tellLog(
  context: CommandContext,
  report: LogReport,
  exportedTo: number | null,
  trust: Trust,
  { json }: VerifyOptions,
): void {
  const why = whyNotWhole(report, exportedTo);
  if (json) context.print(JSON.stringify({ valid: why === null, reason: why, ...report }));
  else for (const line of linesOfLog(report, trust)) context.print(printable(line));
  if (why !== null) throw new CommandFailed(why);
}

function tellEvidence(context: CommandContext, bytes: Uint8Array, trust: Trust, { json }: VerifyOptions): void {
  const report = verifyEvidence(bytes, trust);
  const valid = allPassed(report.checks);
  const { tenant = null, jobId = null } = report.statement ?? {};
  if (json) {
    const { keyId, checks, events } = report;
    context.print(JSON.stringify({ valid, tenant, jobId, keyId, checks, events: events.length }));
  } else for (const line of linesOfEvidence(report)) context.print(printable(line));
  if (!valid) throw new CommandFailed("The bundle does not prove what it shows.");
}
