import type { Logger } from "pino";
import { Unavailable } from "../domain/unavailable.ts";
import type { Probe } from "../health/probe.ts";
import { isPassingOutage } from "../nats/outages.ts";
import { createPatience, type Patience, type Wait } from "../nats/patience.ts";
import { addressOfServer } from "../nats/server-pool.ts";

/** Short enough for a person who watches the start, and long enough for a server that starts together with this process. */
const sayAfterMs = 1000;

/** A process that is starting and not ready yet. */
export type Starting = {
  /** Repeats a step while NATS is unavailable, logs the wait, and ends when the process is asked to stop. */
  readonly patiently: Patience;
  readonly signal: AbortSignal;
  /** The checks that `/readyz` reports meanwhile. */
  readonly probes: readonly Probe[];
};

export function createStarting(servers: readonly string[], logger: Logger, signal: AbortSignal): Starting {
  const address = servers.map(addressOfServer).join(",");
  const begunAt = performance.now();
  let waiting = 0;
  const patiently = createPatience({
    forMs: Number.POSITIVE_INFINITY,
    signal,
    isPassing: isPassingOutage,
    sayAfterMs,
    waits: ({ waitedMs, failure }: Wait) => {
      const fields = { server: "nats", address, waitedSeconds: Math.round(waitedMs / 1000), reason: reasonOf(failure) };
      logger.warn(fields, "waiting for a server");
    },
  });
  return {
    signal,
    patiently: async (step) => {
      waiting += 1;
      try {
        return await patiently(step);
      } finally {
        waiting -= 1;
      }
    },
    probes: [
      {
        name: "nats",
        isNeeded: true,
        // The reason goes only to the log, because `/readyz` needs no key.
        check: async () => ({ status: waiting === 0 ? "up" : "down" }),
      },
      {
        name: "start",
        isNeeded: true,
        check: async () => ({ status: "down", forSeconds: Math.round((performance.now() - begunAt) / 1000) }),
      },
    ],
  };
}

/** Why NATS did not answer, in the words of its error message if there is one. */
export function reasonOf(failure: unknown): string {
  if (failure === null) return "no answer yet";
  const cause = failure instanceof Unavailable ? (failure.cause ?? failure) : failure;
  const { message = "", code = "" } = cause as NodeJS.ErrnoException;
  return message === "" || message === code ? String(code || "no answer") : message;
}
