import { type Finding, fine, serious, warning, wordsOf } from "../health/finding.ts";
import { connectJetStream } from "../nats/connection.ts";
import { readSealedEntries } from "../secrets/jetstream-sealed-entries.ts";
import type { CompleteConfig } from "../settings/config.ts";
import { sealedBuckets } from "./secrets.ts";

const inClear =
  "Set SECRETS_KEY to a file with the output of openssl rand -base64 32, in all processes, and then: waybill secrets rotate";
const missing = "Give every process, and this command, a file SECRETS_KEY with this key, too. A backup may hold it.";

/** Whether the secrets in NATS are encrypted, and whether this process can decrypt them. */
export async function examineSecrets(config: CompleteConfig): Promise<readonly Finding[]> {
  const { nats, natsPrefix: prefix, secretsKeyFile } = config;
  const connection = await connectJetStream(nats, "waybill-doctor", () => {});
  try {
    const entries = await readSealedEntries(connection, { prefix }, sealedBuckets(config));
    const faults = entries.flatMap(({ fault }) => (fault === null ? [] : [serious("nats", fault, missing)]));
    const clear = entries.filter(({ keyId }) => keyId === null).length;
    if (clear > 0) {
      const what = `${clear} ${clear === 1 ? "secret stands" : "secrets stand"} in NATS in clear`;
      return [...faults, warning("nats", what, secretsKeyFile === null ? inClear : "Encrypt: waybill secrets rotate")];
    }
    if (faults.length > 0 || entries.length === 0) return faults;
    return [fine("nats", `Every secret in NATS (${entries.length}) is encrypted`)];
  } catch (failure) {
    return [
      warning("nats", `The secrets in NATS cannot be read: ${wordsOf(failure)}`, "Look again once NATS answers."),
    ];
  } finally {
    await connection.close();
  }
}
