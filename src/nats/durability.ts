import type { JetStreamConnection } from "./connection.ts";

/** What the connected server says of itself; null while there is no connection. */
export type LogServer = {
  readonly version: string;
  /** When what was acknowledged is on the disk, as far as a client can know. */
  readonly durability: string;
};

/** The setting came with 2.10; a server tells it to operators on its monitoring port, and never to a client. */
const isFixedAtTwoMinutes = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < 2 || (major === 2 && minor < 10);
};

export function logServerOf({ nats }: JetStreamConnection): LogServer | null {
  const version = nats.info?.version;
  if (version === undefined) return null;
  return {
    version,
    durability: isFixedAtTwoMinutes(version)
      ? "flushed every 2 minutes"
      : "unknown: every 2 minutes unless the server sets sync_interval",
  };
}
