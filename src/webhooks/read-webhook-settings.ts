import { type AllowedNetworks, readNetworks } from "../signed-post/addresses.ts";
import { expectedSecret, isSecret } from "../signed-post/secret.ts";

/** Reads a setting, null where there is none; and notes what is wrong with one, with what was expected. */
type Reader = {
  readonly raw: (name: string) => string | null;
  readonly fault: (name: string, value: string, expected: string) => void;
  readonly list: (
    name: string,
    rule: { isItem: (item: string) => boolean; expected: string },
  ) => readonly string[] | null;
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
  const networks = read.list("WEBHOOK_ALLOW", {
    isItem: (item) => !readNetworks(item).includes(null),
    expected: "CIDRs with commas: 127.0.0.0/8,fd00::/8",
  });
  return (networks ?? []).flatMap(readNetworks).filter((network) => network !== null);
}
