import type { Command } from "commander";
import { bucketOfRoutes } from "../mail/routes/jetstream-mail-route-store.ts";
import { sealingOf } from "../roles/sealing.ts";
import { bucketOfSeals, keyEntry } from "../seals/jetstream-seal-store.ts";
import {
  readSealedEntries,
  type SealedBucket,
  type SealedEntry,
  sealAgain,
} from "../secrets/jetstream-sealed-entries.ts";
import { KeyFileLocked, rotateKeyFile } from "../secrets/rotate-key-file.ts";
import { readSecretKeys } from "../secrets/secret-keys.ts";
import type { CompleteConfig } from "../settings/config.ts";
import { bucketOfWebhooks } from "../webhooks/jetstream-webhook-store.ts";
import { addYes, askFirst, type YesOption } from "./ask-first.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onNats } from "./on-servers.ts";

type RotateOptions = YesOption & { readonly keepFile?: boolean; readonly json?: boolean };

/** `secrets rotate`. */
export function addSecretsCommands(program: Command, context: CommandContext): void {
  const rotate = program
    .command("secrets")
    .description("the keys that encrypt passwords of mail routes, webhook secrets and the private key of the seals")
    .command("rotate")
    .description("put a new key in front of those of the file SECRETS_KEY, and encrypt all secrets with it")
    .option("--keep-file", "leave the file as it is, and encrypt all secrets with its first key")
    .option("--json", "as JSON")
    .action((options: RotateOptions) => rotateSecrets(context, options));
  addYes(rotate);
  explain(rotate, {
    examples: ["waybill secrets rotate", "waybill secrets rotate --keep-file --yes"],
    asks: "nats",
    notes: `The service may run. Processes that read the same file use the new key at once. Where processes have copies of the
file, give them the new key as the second line first, then as the first line, and then use --keep-file. A rotation that
broke off is finished, without another key, by the same command. Keep the old keys for the backups of their time.`,
  });
}

/** All that is encrypted in NATS. */
export const sealedBuckets = (config: CompleteConfig): readonly SealedBucket[] =>
  [bucketOfRoutes, bucketOfWebhooks, bucketOfSeals].map((bucket) => ({
    bucket,
    sealing: sealingOf(config, bucket),
    isSecret: (entry) => bucket !== bucketOfSeals || entry === keyEntry,
  }));

async function rotateSecrets(context: CommandContext, { yes, keepFile, json }: RotateOptions): Promise<void> {
  const result = await onNats(context, async (connection, config, patiently) => {
    const { natsPrefix: prefix, streamReplicas: replicas, secretsKeyFile: file } = config;
    if (file === null) throw new CommandFailed(noKeyFile);
    const place = { prefix, replicas };
    const buckets = sealedBuckets(config);
    const read = () => patiently(() => readSealedEntries(connection, place, buckets));
    const before = await read();
    refuseUnreadable(before);
    const isUnfinished = before.some(({ keyId }) => keyId !== null && keyId !== currentKey(file));
    if (!keepFile && !isUnfinished) {
      await askFirst(context, `Put a new key into ${file} and encrypt ${before.length} entries with it?`, { yes });
      await rotateFile(file);
    }
    let encrypted = 0;
    // An entry that a process wrote meanwhile with a key that it had read before is found by the next pass.
    for (let left = await read(); ; left = await read()) {
      const old = left.filter(({ keyId }) => keyId !== currentKey(file));
      if (old.length === 0) return { keyId: currentKey(file), entries: left.length, encrypted };
      for (const { bucket, entry } of old) {
        const of = buckets.find((one) => one.bucket === bucket);
        if (of && (await patiently(() => sealAgain(connection, place, of, entry)))) encrypted += 1;
      }
    }
  });
  if (json) return context.print(JSON.stringify(result));
  const { keyId, entries, encrypted } = result;
  context.print(`The key ${keyId} encrypts every entry (${entries}); encrypted anew: ${encrypted}.`);
  context.tell("Keep the other keys in the file for as long as there are backups of their time.");
}

const noKeyFile =
  "SECRETS_KEY is not set: there is no key to rotate. Make a file with openssl rand -base64 32, and name it in all processes.";

const currentKey = (file: string): string => readSecretKeys(file).all()[0]?.id ?? "";

function refuseUnreadable(entries: readonly SealedEntry[]): void {
  const faults = entries.flatMap(({ fault }) => (fault === null ? [] : [fault]));
  if (faults.length > 0) throw new CommandFailed(faults.join("\n"));
}

async function rotateFile(file: string): Promise<void> {
  try {
    await rotateKeyFile(file);
  } catch (failure) {
    if (failure instanceof KeyFileLocked) throw new CommandFailed(failure.message);
    const { code = "" } = failure as NodeJS.ErrnoException;
    throw new CommandFailed(`${file} cannot be replaced (${code}): use --keep-file where it comes from elsewhere.`);
  }
}
