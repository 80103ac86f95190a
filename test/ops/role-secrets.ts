import type { Role } from "../../src/settings/config.ts";

/** Settings that contain a secret. The password of MySQL stands in MYSQL_URL. */
export const secrets = ["NATS_PASSWORD", "MYSQL_URL", "SMTP_URL", "WEBHOOK_SECRET"] as const;
export type Secret = (typeof secrets)[number];

const servers: readonly Secret[] = ["NATS_PASSWORD", "MYSQL_URL"];

/** What a role reads, and so may be given. The role `webhooks` sends alerts by mail if ALERT_MAIL_TO asks for it. */
export const secretsOf: Readonly<Record<Role, readonly Secret[]>> = {
  api: servers,
  scheduler: servers,
  worker: [...servers, "SMTP_URL", "WEBHOOK_SECRET"],
  projector: servers,
  webhooks: [...servers, "WEBHOOK_SECRET", "SMTP_URL"],
  outbox: servers,
  bounces: servers,
};
