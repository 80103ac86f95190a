import type { Command } from "commander";
import { createPassReader } from "../archive/archived-log.ts";
import { createJetStreamEventLog } from "../event-log/jetstream-event-log.ts";
import { type ExaminedMessage, examined, examineMessage, recordPass } from "../event-log/jetstream-odd-messages.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { printable } from "../process/terminal-line.ts";
import { userName } from "../process/user.ts";
import type { CompleteConfig } from "../settings/config.ts";
import { archiveFor } from "./check-archive.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onNats } from "./on-servers.ts";

type ShowOptions = { readonly archive?: string; readonly json?: boolean };
type PassOptions = ShowOptions & { readonly sequence: string; readonly sha256: string; readonly reason: string };

/** `log show|pass`. */
export function addPassCommands(log: Command, context: CommandContext): void {
  const show = log
    .command("show")
    .description("show one stored message of the log, why it cannot be decoded, and how to pass it by")
    .argument("<sequence>", "sequence of the message in the log; a stopped projection names it")
    .option("--archive <directory>", "the directory with the files of the archive (default: ARCHIVE_DIR)")
    .option("--json", "as JSON")
    .action((sequence: string, options: ShowOptions) => showMessage(context, sequence, options));
  const pass = log
    .command("pass")
    .description("go on without a message that cannot be decoded; the log records the decision permanently")
    .requiredOption("--sequence <n>", "sequence of the message in the log")
    .requiredOption("--sha256 <digest>", "digest of the message, as waybill log show prints it")
    .requiredOption("--reason <text>", "the reason, which auditors see when they verify the log")
    .option("--json", "as JSON")
    .action((options: PassOptions) => passMessage(context, options));
  explain(show, { examples: ["waybill log show 4711", "waybill log show 4711 --json"], asks: "nats" });
  explain(pass, {
    examples: [
      'waybill log pass --sequence 4711 --sha256 5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328 --reason "written by hand"',
    ],
    asks: "nats",
    exits: ["the message is passed by", "the message can be decoded, or does not match the digest"],
    notes:
      "Projections that stopped at the message resume. Nothing is removed: seals stay valid, and verify reports the message.",
  });
}

type Passed = {
  readonly sequence: number;
  readonly passedAt: string;
  readonly passedBy: string;
  readonly reason: string;
};

async function showMessage(context: CommandContext, place: string, options: ShowOptions): Promise<void> {
  const sequence = readSequence(place, "<sequence>");
  const { message, passed, file } = await onNats(context, (connection, config) =>
    examineIn(connection, config, options, sequence),
  );
  if (options.json) {
    context.print(JSON.stringify({ ...message, body: textOf(message), passed, file }));
    return;
  }
  const { subject, storedAt, sha256, body, fault, isNewer } = message;
  context.print(`sequence  ${sequence}`);
  context.print(`subject   ${printable(subject)}`);
  context.print(`stored    ${storedAt}`);
  context.print(`sha256    ${sha256}`);
  if (file !== null) context.print(`archived  in ${file}`);
  context.print(`body      ${body.length} bytes: ${printable(JSON.stringify(textOf(message).slice(0, 500)))}`);
  if (fault === null) context.print("decodes   yes: nothing stops at it");
  else context.print(`decodes   no: ${printable(fault)}`);
  if (passed !== null)
    context.print(`passed    by ${printable(`${passed.passedBy} at ${passed.passedAt}: ${passed.reason}`)}`);
  else if (fault !== null) {
    if (isNewer) context.print("The message is from a newer release: if you have that release, start it instead.");
    context.print(`To go on without it: waybill log pass --sequence ${sequence} --sha256 ${sha256} --reason "…"`);
  }
}

async function passMessage(context: CommandContext, options: PassOptions): Promise<void> {
  const { sha256, json } = options;
  const sequence = readSequence(options.sequence, "--sequence");
  const reason = options.reason.trim();
  if (!/^[0-9a-f]{64}$/.test(sha256)) {
    throw new WrongUsage(`--sha256 is ${JSON.stringify(sha256)}; expected 64 hexadecimal digits`);
  }
  if (reason === "" || reason.length > 500) throw new WrongUsage("--reason takes 1 to 500 characters");
  const passed = await onNats(context, async (connection, config) => {
    const prefix = config.natsPrefix;
    const { message, passed: before, log } = await examineIn(connection, config, {}, sequence);
    if (message.sha256 !== sha256) {
      throw new CommandFailed(`The message at ${sequence} has the digest ${message.sha256}: nothing is passed by.`);
    }
    if (message.fault === null)
      throw new CommandFailed(`The message at ${sequence} can be decoded: nothing stops at it.`);
    if (before !== null) return before;
    const { subject, fault } = message;
    const [passedBy, passedAt] = [`cli:${userName()}`, new Date().toISOString()];
    await recordPass(connection, prefix, log, {
      sequence,
      subject,
      sha256,
      fault,
      reason,
      actor: passedBy,
      at: passedAt,
    });
    return { sequence, passedAt, passedBy, reason };
  });
  if (json) context.print(JSON.stringify(passed));
  else context.print(`Message ${sequence} is passed by, by ${passed.passedBy} at ${passed.passedAt}: ${passed.reason}`);
}

/** Where the log no longer has it, from the archive. Throws Archived where the file cannot be read. */
async function examineIn(
  connection: JetStreamConnection,
  config: CompleteConfig,
  options: ShowOptions,
  sequence: number,
) {
  const prefix = config.natsPrefix;
  const log = await createJetStreamEventLog(connection, prefix);
  const here = await examineMessage(connection, prefix, sequence);
  const archive = archiveFor(connection, config, options);
  const archived = here === null ? await archive.entryAt(sequence) : null;
  const message = archived === null ? here : examined(prefix, { ...archived.entry, data: archived.entry.body });
  const passes = archived === null ? await log.readPasses() : await createPassReader(log, archive, prefix)();
  if (message === null) throw new CommandFailed(`Nothing stands at ${sequence} in the log.`);
  const pass = passes.find(({ event: { data } }) => data.sequence === sequence && data.sha256 === message.sha256);
  const passed: Passed | null =
    pass === undefined
      ? null
      : { sequence, passedAt: pass.event.at, passedBy: pass.actor, reason: pass.event.data.reason };
  return { message, passed, log, file: archived?.file ?? null };
}

const textOf = ({ body }: ExaminedMessage): string => Buffer.from(body).toString("utf8");

function readSequence(text: string, name: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new WrongUsage(`${name} is ${JSON.stringify(text)}; expected the sequence of a message, a whole number from 1`);
}
