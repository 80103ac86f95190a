import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { Command } from "commander";
import { createSealMemory, forgetSeals } from "../../projections/seal-memory.ts";
import { withArchivedMessages } from "../archive/archived-messages.ts";
import { streamName } from "../event-log/subjects.ts";
import { archiveOf } from "../roles/parts.ts";
import { sealingOf } from "../roles/sealing.ts";
import { bucketOfSeals, createJetStreamSealStore } from "../seals/jetstream-seal-store.ts";
import { createJetStreamSealedLog } from "../seals/jetstream-sealed-log.ts";
import { type LogFileHead, logFileFormat, toLine } from "../seals/log-file.ts";
import { publishAgainAfter } from "../seals/seal-destinations.ts";
import { publicPemOf } from "../seals/seal-key.ts";
import { addYes, askFirst, type YesOption } from "./ask-first.ts";
import { whyNoFile } from "./client/file-failure.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { addPassCommands } from "./log-pass.ts";
import { onNats, onReadModels } from "./on-servers.ts";

type JsonOption = { readonly json?: boolean };

/** `seals key|rotate|accept` and `log export|show|pass`. */
export function addSealCommands(program: Command, context: CommandContext): void {
  const seals = program.command("seals").description("manage the seals of the log");
  const key = seals
    .command("key")
    .description("print the public key of the seals as PEM, to hand to auditors")
    .option("--json", "as JSON")
    .action((options: JsonOption) => showKey(context, options));
  const rotate = seals
    .command("rotate")
    .description("sign with a new key from the next start on; earlier seals stay valid")
    .option("--json", "as JSON")
    .action((options: JsonOption & YesOption) => rotateKey(context, options));
  const accept = seals
    .command("accept")
    .description("accept the log as it is, after it was restored or replaced on purpose")
    .option("--json", "as JSON")
    .action((options: JsonOption & YesOption) => acceptLog(context, options));
  const log = program.command("log").description("inspect and export the stored log");
  addPassCommands(log, context);
  const exported = log
    .command("export")
    .description(
      "write every message as a line of JSON, byte for byte, for waybill verify on a machine without a server",
    )
    .argument("<file>", "the file to write; an existing one is replaced")
    .option("--json", "the summary as JSON")
    .action((file: string, options: JsonOption) => exportLog(context, file, options));
  addYes(rotate);
  addYes(accept);
  explain(key, { examples: ["waybill seals key > public-key.pem", "waybill seals key --json"], asks: "nats" });
  explain(rotate, { examples: ["waybill seals rotate"], asks: "nats" });
  explain(accept, { examples: ["waybill seals accept"], asks: "servers" });
  explain(exported, { examples: ["waybill log export log.ndjson && waybill verify log.ndjson"], asks: "nats" });
}

async function showKey(context: CommandContext, { json }: JsonOption): Promise<void> {
  const key = await onNats(context, async (connection, config, patiently) => {
    const { natsPrefix: prefix, streamReplicas: replicas, seals } = config;
    const sealing = sealingOf(config, bucketOfSeals);
    const store = await patiently(() => createJetStreamSealStore(connection, { prefix, replicas }, sealing));
    return seals.key ?? (await patiently(store.key));
  });
  print(context, key.keyId, key.publicKey, json);
}

async function rotateKey(context: CommandContext, { json, yes }: JsonOption & YesOption): Promise<void> {
  const key = await onNats(context, async (connection, config, patiently) => {
    const { natsPrefix: prefix, streamReplicas: replicas, seals } = config;
    if (seals.key !== null) throw new CommandFailed("SEAL_KEY sets the key: replace its file");
    await askFirst(context, "Seal with a new key from the next start on?", { yes });
    const sealing = sealingOf(config, bucketOfSeals);
    const store = await patiently(() => createJetStreamSealStore(connection, { prefix, replicas }, sealing));
    // A repeated rotation would leave a key that was never printed and never sealed anything, so this is not retried.
    return await patiently(store.rotate);
  });
  print(context, key.keyId, key.publicKey, json);
  context.tell("Restart the roles api and scheduler: until then they use the old key.");
  context.tell(
    "Until the log has a seal with the new key, waybill verify knows it by the old one only: name that by --key.",
  );
}

function print(context: CommandContext, keyId: string, publicKey: string, json: boolean | undefined): void {
  const pem = publicPemOf(publicKey);
  context.print(json ? JSON.stringify({ keyId, algorithm: "Ed25519", publicKey, pem }) : pem.trimEnd());
  if (!json) context.tell(`Key ${keyId}.`);
}

async function acceptLog(context: CommandContext, { json, yes }: JsonOption & YesOption): Promise<void> {
  await onReadModels(context, async ({ db, connection, config, patiently }) => {
    const { natsPrefix: prefix, streamReplicas: replicas } = config;
    const name = streamName(prefix, "JOBS");
    const before = await createSealMemory(db, name).last();
    const last = await patiently((await createJetStreamSealedLog(connection, prefix)).lastSeal);
    if (before !== null && before.sequence === last?.sequence) {
      context.tell("The log still has the remembered seal: there is nothing to accept.");
    }
    await askFirst(context, "Forget the remembered seal, and accept the log as it is?", { yes });
    const sealing = sealingOf(config, bucketOfSeals);
    const store = await patiently(() => createJetStreamSealStore(connection, { prefix, replicas }, sealing));
    await patiently(() => publishAgainAfter(store, last?.sequence ?? 0));
    await forgetSeals(db, name);
    const forgotten = before === null ? "Nothing was remembered." : `The seal at ${before.sequence} is forgotten.`;
    const now = last === null ? "The log has no seal." : `The last seal of the log, at ${last.sequence}, replaces it.`;
    const found = { forgotten: before?.sequence ?? null, accepted: last?.sequence ?? null };
    context.print(json ? JSON.stringify(found) : `${forgotten} ${now}`);
    if (config.seals.file !== null)
      context.tell(`Move ${config.seals.file} away: it remembers the seals that are gone.`);
  });
}

async function exportLog(context: CommandContext, path: string, { json }: JsonOption): Promise<void> {
  const count = await onNats(context, async (connection, config, patiently) => {
    const ofStream = await createJetStreamSealedLog(connection, config.natsPrefix);
    const sealedLog = withArchivedMessages(ofStream, archiveOf(connection, config));
    const { lastSequence } = await patiently(sealedLog.state);
    const file = createWriteStream(path);
    const written = finished(file).catch((failure: unknown) => {
      throw new CommandFailed(`${path} cannot be written: ${whyNoFile(failure)}`);
    });
    // The file may fail before `written` is awaited, so the rejection needs a handler now.
    written.catch(() => {});
    const head: LogFileHead = { format: logFileFormat, lastSequence };
    file.write(`${JSON.stringify(head)}\n`);
    let messages = 0;
    for await (const batch of sealedLog.messages(0, "all")) {
      const wanted = batch.filter(({ sequence }) => sequence <= head.lastSequence);
      messages += wanted.length;
      if (!file.write(wanted.map((message) => `${toLine(message)}\n`).join(""))) {
        await Promise.race([once(file, "drain").catch(() => written), written]);
      }
      if (context.interrupted.aborted) throw new CommandFailed(`Interrupted: ${path} is incomplete`);
      if (wanted.length < batch.length) break;
    }
    file.end();
    await written;
    return messages;
  });
  if (json) context.print(JSON.stringify({ file: path, messages: count }));
  else context.tell(`${count} messages are in ${path}.`);
}
