import type { JetStreamConnection } from "./connection.ts";

/** Whether a version such as `10.11.6-MariaDB` or `2.9.10` is at least another; false for text that is no version. */
export function isAtLeast(version: string, least: readonly number[]): boolean {
  const found = version.split(".").map((part) => Number.parseInt(part, 10));
  const differs = least.findIndex((part, index) => (found[index] ?? 0) !== part);
  return differs < 0 || (found[differs] ?? 0) > (least[differs] ?? 0);
}

/** The connected server's own description; null while there is no connection. */
export type LogServer = {
  readonly version: string;
  /** When an acknowledged message is on the disk, as far as Waybill can know. */
  readonly durability: string;
};

/** `isOwn`: Waybill started the server itself, and let it flush each message if it can. */
export function logServerOf({ nats }: JetStreamConnection, isOwn: boolean): LogServer | null {
  const version = nats.info?.version;
  return version === undefined ? null : { version, durability: durabilityOf(version, isOwn) };
}

/** The setting exists since 2.10. A server shows it to operators on its monitoring port, and never to a client. */
function durabilityOf(version: string, isOwn: boolean): string {
  if (/^\d/.test(version) && !isAtLeast(version, [2, 10])) return "flushed every 2 minutes";
  return isOwn ? "flushed before each answer" : "unknown: every 2 minutes unless the server sets sync_interval";
}

/** In releases before this one the expected sequence of an append is not reliable, or was never tested. */
const leastForReplicas = [2, 10, 27] as const;

/**
 * Why a NATS of this version must not keep several copies of the log; null where it may. Of 600 races of three workers
 * for one job, each on a node of its own, 2.9.10 let more than one begin in 596, and 2.10.27 and 2.15.1 in none.
 */
export function whyNoReplicas(
  version: string,
  replicas: number,
): { readonly what: string; readonly advice: string } | null {
  if (replicas === 1 || isAtLeast(version, leastForReplicas)) return null;
  return {
    what: `STREAM_REPLICAS is ${replicas}, and NATS is ${version || "of an unknown version"}: with several copies of the log it can accept two decisions that exclude each other, and recipients would be mailed twice`,
    advice: `Use NATS ${leastForReplicas.join(".")} or later on all nodes, or STREAM_REPLICAS=1.`,
  };
}
