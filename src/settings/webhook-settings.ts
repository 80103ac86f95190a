import { type AllowedNetworks, readNetworks, whyNotToCall } from "../signed-post/addresses.ts";
import { expectedSecret, isSecret } from "../signed-post/secret.ts";
import type { SettingReader } from "./setting-reader.ts";

export function readWebhookSettings(read: SettingReader) {
  const secret = read.raw("WEBHOOK_SECRET");
  if (secret !== null && !isSecret(secret)) read.fault("WEBHOOK_SECRET", "***", expectedSecret);
  return {
    /** Signs the webhook calls for jobs of the default tenant; null: Waybill creates a secret at first use. */
    secret,
    allowed: readAllowed(read),
  };
}

function readAllowed(read: SettingReader): AllowedNetworks {
  const networks = read.list("WEBHOOK_ALLOW", {
    isItem: (item) => !readNetworks(item).includes(null),
    expected: "CIDRs with commas: 127.0.0.0/8,fd00::/8",
  });
  return (networks ?? []).flatMap(readNetworks).filter((network) => network !== null);
}

/** The URL may contain a secret, so a fault does not repeat it. */
export function readCallableUrl({ raw, fault }: SettingReader, name: string, allowed: AllowedNetworks): string | null {
  const url = raw(name);
  const expected = url === null ? null : whyNotToCall(url, allowed);
  if (expected !== null) fault(name, "***", `${expected}, or one that WEBHOOK_ALLOW names`);
  return url;
}
