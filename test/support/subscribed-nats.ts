import { resolve } from "node:path";
import type { NatsConfig } from "../../src/settings/config.ts";
import { type ConfiguredNats, startConfiguredNats } from "./configured-nats.ts";

export type SubscribedNats = ConfiguredNats & {
  /** As Waybill itself. */
  readonly waybill: NatsConfig;
  readonly passwords: { readonly waybill: string; readonly acme: string };
};

/** A NATS server with the very configuration that is there for operators to take. */
export async function startSubscribedNats(): Promise<SubscribedNats> {
  const passwords = { waybill: "of-waybill", acme: "of-acme" };
  const env = { WAYBILL_PASSWORD: passwords.waybill, ACME_PASSWORD: passwords.acme };
  const server = await startConfiguredNats(resolve("ops/nats/subscribers.conf"), env);
  const waybill = {
    servers: [server.url],
    user: "waybill",
    password: passwords.waybill,
    credsFile: null,
    caFile: null,
    isOwn: false,
  };
  return { ...server, waybill, passwords };
}
