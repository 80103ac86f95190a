import type { CompleteConfig } from "../config.ts";
import { isPassingOutage } from "../nats/outages.ts";
import { createPatience, type Patience } from "../nats/patience.ts";
import { placeOfServer } from "../nats/server-pool.ts";
import type { CommandContext } from "./command-context.ts";

const sayAfterMs = 5000;

/** How long a command tries NATS again, and what it tells meanwhile: who has typed it wants to know what it waits for. */
export function patienceFor(
  { tell, interrupted }: CommandContext,
  { nats, commandPatienceMs }: CompleteConfig,
): Patience {
  const place = nats.servers.map(placeOfServer).join(", ");
  const patience = inSeconds(commandPatienceMs);
  return createPatience({
    forMs: commandPatienceMs,
    signal: interrupted,
    isPassing: isPassingOutage,
    sayAfterMs,
    waits: ({ waitedMs }) =>
      tell(`NATS at ${place} has not answered for ${inSeconds(waitedMs)} s; trying for ${patience} s`),
  });
}

const inSeconds = (ms: number): number => Math.round(ms / 1000);
