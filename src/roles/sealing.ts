import { CannotStart } from "../process/lifecycle.ts";
import { CannotOpen, createSealing, type Sealing } from "../secrets/sealing.ts";
import { readSecretKeys } from "../secrets/secret-keys.ts";
import type { Config } from "../settings/config.ts";

/** Encrypts the entries of a bucket, if SECRETS_KEY is set. */
export const sealingOf = ({ secretsKeyFile }: Pick<Config, "secretsKeyFile">, bucket: string): Sealing =>
  createSealing(secretsKeyFile === null ? null : readSecretKeys(secretsKeyFile), bucket);

/** A process that lacks a key of the others must not start: it would make another seal key, or send unsigned. */
export async function orCannotStart<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (failure) {
    if (!(failure instanceof CannotOpen)) throw failure;
    throw new CannotStart(`${failure.message}\nAll processes need the same keys: ${advice}`, { cause: failure });
  }
}

const advice = "set SECRETS_KEY to a file that holds this key, too.";
