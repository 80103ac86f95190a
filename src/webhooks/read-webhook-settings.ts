import { type AllowedNetworks, readNetworks } from "./addresses.ts";
import { expectedSecret, isSecret } from "./secret.ts";

/** Reads a setting, null where there is none; and notes what is wrong with one, with what was expected. */
type Reader = {
  readonly raw: (name: string) => string | null;
  readonly fault: (name: string, value: string, expected: string) => void;
};

export type WebhookSettings = {
  /** Signs what goes to the webhookUrl of the default tenant's jobs; null for one that is made at first use. */
  readonly secret: string | null;
  readonly allowed: AllowedNetworks;
};

export function readWebhookSettings(read: Reader): WebhookSettings {
  const secret = read.raw("WEBHOOK_SECRET");
  if (secret !== null && !isSecret(secret)) read.fault("WEBHOOK_SECRET", "***", expectedSecret);
  return { secret, allowed: readAllowed(read) };
}

function readAllowed(read: Reader): AllowedNetworks {
  const text = read.raw("WEBHOOK_ALLOW");
  if (text === null) return [];
  const networks = readNetworks(text);
  const known = networks.filter((network) => network !== null);
  if (known.length !== networks.length) read.fault("WEBHOOK_ALLOW", text, "CIDRs with commas: 127.0.0.0/8,fd00::/8");
  return known;
}
