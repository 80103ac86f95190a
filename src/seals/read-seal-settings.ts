import { readFileSync } from "node:fs";
import { isEmailAddress } from "../schemas/email-address.ts";
import { readSealKey, type SealKey } from "./seal-key.ts";

/** Reads settings, and notes what is wrong with one, with what was expected. */
type Reader = {
  readonly raw: (name: string) => string | null;
  readonly fault: (name: string, value: string, expected: string) => void;
  readonly whole: (name: string, fallback: number, min: number, max: number) => number;
  readonly decimal: (name: string, fallback: number, min: number, max: number) => number;
  readonly url: (name: string, protocols: readonly string[], expected: string) => string | null;
};

export type SealSettings = {
  readonly everyEvents: number;
  readonly everyMs: number;
  /** Null for one that is made at first use and kept in NATS. */
  readonly key: SealKey | null;
  /** Where seals are published elsewhere; null for nowhere. */
  readonly file: string | null;
  readonly webhookUrl: string | null;
  readonly mailTo: string | null;
};

export function readSealSettings(read: Reader): SealSettings {
  const mailTo = read.raw("SEAL_MAIL_TO");
  if (mailTo !== null && !isEmailAddress(mailTo))
    read.fault("SEAL_MAIL_TO", mailTo, "an address such as audit@example.com");
  return {
    everyEvents: read.whole("SEAL_EVERY_EVENTS", 10_000, 1, 1_000_000),
    everyMs: Math.round(read.decimal("SEAL_EVERY_MINUTES", 10, 0.01, 10_080) * 60_000),
    key: readKey(read),
    file: read.raw("SEAL_FILE"),
    webhookUrl: read.url("SEAL_WEBHOOK", ["https:", "http:"], "https://host/path"),
    mailTo,
  };
}

function readKey(read: Reader): SealKey | null {
  const path = read.raw("SEAL_KEY");
  if (path === null) return null;
  const key = readSealKey(textOf(path));
  if (key === null)
    read.fault("SEAL_KEY", path, "a file with a private Ed25519 key: openssl genpkey -algorithm ed25519");
  return key;
}

/** Empty, which is no key, where there is no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
