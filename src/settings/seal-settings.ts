import { readFileSync } from "node:fs";
import { isEmailAddress } from "../schemas/email-address.ts";
import { readSealKey, type SealKey } from "../seals/seal-key.ts";
import type { SettingReader } from "./setting-reader.ts";

export function readSealSettings(read: SettingReader) {
  const mailTo = read.raw("SEAL_MAIL_TO");
  if (mailTo !== null && !isEmailAddress(mailTo))
    read.fault("SEAL_MAIL_TO", mailTo, "an address such as audit@example.com");
  return {
    everyEvents: read.whole("SEAL_EVERY_EVENTS", 10_000, 1, 1_000_000),
    everyMs: Math.round(read.decimal("SEAL_EVERY_MINUTES", 10, 0.01, 10_080) * 60_000),
    /** Null: Waybill creates a key at first use and keeps it in NATS. */
    key: readKey(read),
    /** Destinations outside NATS to which seals are published: a file, a URL, a mailbox; null for none. */
    file: read.raw("SEAL_FILE"),
    webhookUrl: read.url("SEAL_WEBHOOK", ["https:", "http:"], "https://host/path"),
    mailTo,
  };
}

function readKey(read: SettingReader): SealKey | null {
  const path = read.raw("SEAL_KEY");
  if (path === null) return null;
  const key = readSealKey(textOf(path));
  if (key === null)
    read.fault("SEAL_KEY", path, "a file with a private Ed25519 key: openssl genpkey -algorithm ed25519");
  return key;
}

/** Returns an empty text, which is not a key, if the file does not exist. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
