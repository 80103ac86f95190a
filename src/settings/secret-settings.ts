import { existsSync } from "node:fs";
import { join } from "node:path";
import { expectedKeyFile, readSecretKeys } from "../secrets/secret-keys.ts";
import type { SettingReader } from "./setting-reader.ts";

export const defaultDataDir = ".waybill";

/** The file that Waybill makes beside a NATS server of its own. */
export const ownKeyFile = (dataDir: string): string => join(dataDir, "secrets.key");

/** A file that exists and holds keys. Its faults never quote it. */
export function readSecretsKeyFile(read: SettingReader): string | null {
  const given = read.raw("SECRETS_KEY");
  const own = ownKeyFile(read.text("DATA_DIR", defaultDataDir));
  const file = given ?? (read.raw("NATS_URL") === null && existsSync(own) ? own : null);
  if (file === null) return null;
  try {
    readSecretKeys(file);
    return file;
  } catch (failure) {
    read.fault("SECRETS_KEY", file, `${expectedKeyFile}; ${(failure as Error).message}`);
    return null;
  }
}
