import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { Command } from "commander";
import { createSealMemory, forgetSeals } from "../../projections/seal-memory.ts";
import { whyNoFile } from "../client/file-failure.ts";
import { streamName } from "../event-log/subjects.ts";
import { createJetStreamSealStore } from "../seals/jetstream-seal-store.ts";
import { createJetStreamSealedLog } from "../seals/jetstream-sealed-log.ts";
import { type LogFileHead, logFileFormat, toLine } from "../seals/log-file.ts";
import { publicPemOf } from "../seals/seal-key.ts";
import { addYes, askFirst, type YesOption } from "./ask-first.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { addPassCommands } from "./log-pass.ts";
import { onNats, onReadModels } from "./on-servers.ts";

type JsonOption = { readonly json?: boolean };

/** `seals key|rotate|accept` and `log export|show|pass`. */
export function addSealCommands(program: Command, context: CommandContext): void {
  const seals = program.command("seals").description("what the log is sealed with");
  const key = seals
    .command("key")
    .description("the public key that seals are signed with, as PEM: what whoever verifies should have from you")
    .option("--json", "as JSON")
    .action((options: JsonOption) => showKey(context, options));
  const rotate = seals
    .command("rotate")
    .description("sign with another key from the next start on; what was sealed before stays sealed")
    .option("--json", "as JSON")
    .action((options: JsonOption & YesOption) => rotateKey(context, options));
  const accept = seals
    .command("accept")
    .description("go on with the log as it is, after it was put back or replaced on purpose")
    .option("--json", "as JSON")
    .action((options: JsonOption & YesOption) => acceptLog(context, options));
  const log = program.command("log").description("the log as it is stored");
  addPassCommands(log, context);
  const exported = log
    .command("export")
    .description("every message as a line of JSON, byte for byte, for waybill verify on a machine without any server")
    .argument("<file>", "where to write it; what was there is replaced")
    .option("--json", "what was written, as JSON")
    .action((file: string, options: JsonOption) => exportLog(context, file, options));
  addYes(rotate);
  addYes(accept);
  explain(key, { examples: ["waybill seals key > public-key.pem", "waybill seals key --json"], asks: "nats" });
  explain(rotate, { examples: ["waybill seals rotate"], asks: "nats" });
  explain(accept, { examples: ["waybill seals accept"], asks: "servers" });
  explain(exported, { examples: ["waybill log export log.ndjson && waybill verify log.ndjson"], asks: "nats" });
}

async function showKey(context: CommandContext, { json }: JsonOption): Promise<void> {
  const key = await onNats(
    context,
    async (connection, { natsPrefix: prefix, streamReplicas: replicas, seals }, patiently) => {
      const store = await patiently(() => createJetStreamSealStore(connection, { prefix, replicas }));
      return seals.key ?? (await patiently(store.key));
    },
  );
  print(context, key.keyId, key.publicKey, json);
}

async function rotateKey(context: CommandContext, { json, yes }: JsonOption & YesOption): Promise<void> {
  const key = await onNats(context, async (connection, config, patiently) => {
    const { natsPrefix: prefix, streamReplicas: replicas, seals } = config;
    if (seals.key !== null) throw new CommandFailed("The key is laid down by SEAL_KEY: put another file in its place");
    await askFirst(context, "Seal with a new key from the next start on?", { yes });
    const store = await patiently(() => createJetStreamSealStore(connection, { prefix, replicas }));
    // Done twice it leaves a key that nobody was shown and nothing was sealed with.
    return await patiently(store.rotate);
  });
  print(context, key.keyId, key.publicKey, json);
  context.tell("Start the roles api and scheduler again: they go on with the key they knew until then.");
}

function print(context: CommandContext, keyId: string, publicKey: string, json: boolean | undefined): void {
  const pem = publicPemOf(publicKey);
  context.print(json ? JSON.stringify({ keyId, algorithm: "Ed25519", publicKey, pem }) : pem.trimEnd());
  if (!json) context.tell(`Key ${keyId}.`);
}

async function acceptLog(context: CommandContext, { json, yes }: JsonOption & YesOption): Promise<void> {
  await onReadModels(context, async ({ db, connection, config, patiently }) => {
    const name = streamName(config.natsPrefix, "JOBS");
    const before = await createSealMemory(db, name).last();
    const last = await patiently((await createJetStreamSealedLog(connection, config.natsPrefix)).lastSeal);
    if (before !== null && before.sequence === last?.sequence) {
      context.tell("The log still has the seal that is remembered: nothing had to be accepted.");
    }
    await askFirst(context, "Forget what the log was sealed with, and take it as it is?", { yes });
    await forgetSeals(db, name);
    const forgotten = before === null ? "Nothing was remembered." : `The seal at ${before.sequence} is forgotten.`;
    const now = last === null ? "The log has none." : `The last one of the log, at ${last.sequence}, is taken for it.`;
    const found = { forgotten: before?.sequence ?? null, accepted: last?.sequence ?? null };
    context.print(json ? JSON.stringify(found) : `${forgotten} ${now}`);
    if (config.seals.file !== null)
      context.tell(`Move ${config.seals.file} away: it remembers the seals that are gone.`);
  });
}

async function exportLog(context: CommandContext, path: string, { json }: JsonOption): Promise<void> {
  const count = await onNats(context, async (connection, { natsPrefix }, patiently) => {
    const sealedLog = await createJetStreamSealedLog(connection, natsPrefix);
    const { lastSequence } = await patiently(sealedLog.state);
    const file = createWriteStream(path);
    const written = finished(file).catch((failure: unknown) => {
      throw new CommandFailed(`${path} cannot be written: ${whyNoFile(failure)}`);
    });
    // It may fail while nobody waits for it yet.
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
      if (context.interrupted.aborted) throw new CommandFailed(`Interrupted: ${path} is not whole`);
      if (wanted.length < batch.length) break;
    }
    file.end();
    await written;
    return messages;
  });
  if (json) context.print(JSON.stringify({ file: path, messages: count }));
  else context.tell(`${count} messages are in ${path}.`);
}
