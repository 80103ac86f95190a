import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { json } from "../answer.ts";
import { toLoggable } from "../failure.ts";
import { refuse } from "../problem.ts";
import { type Route, route } from "../route.ts";

/** Whether something that the process depends on can be used now. */
export type Probe = {
  /** `nats`, `mysql`, … */
  readonly name: string;
  /** Whether a role of this process cannot do its work without it. */
  readonly isNeeded: boolean;
  /** Throws where it cannot be used. What comes back is shown: how durable the log is, for instance. */
  readonly check: () => Promise<Readonly<Record<string, unknown>>>;
};

type Finding = { readonly name: string; readonly isReady: boolean; readonly shown: object };
type Dependencies = { readonly probes: readonly Probe[]; readonly logger: Logger };

const probeTimeoutMs = 2000;

export const healthRoutes = ({ probes, logger }: Dependencies): readonly Route[] => [
  route({ method: "GET", path: "/livez", handle: async () => json({ alive: true }) }),
  route({
    method: "GET",
    path: "/readyz",
    handle: async () => {
      const findings = await Promise.all(probes.map((probe) => examine(probe, logger)));
      const dependencies = Object.fromEntries(findings.map(({ name, shown }) => [name, shown]));
      const away = findings.filter(({ isReady }) => !isReady).map(({ name }) => name);
      if (away.length === 0) return json({ ready: true, dependencies });
      return refuse("not-ready", `Not ready: ${away.join(", ")}.`, { members: { ready: false, dependencies } });
    },
  }),
];

async function examine({ name, isNeeded, check }: Probe, logger: Logger): Promise<Finding> {
  const deadline = new AbortController();
  try {
    const details = await Promise.race([check(), timeout(deadline.signal)]);
    return { name, isReady: true, shown: { status: "up", needed: isNeeded, ...details } };
  } catch (failure) {
    logger.warn({ dependency: name, failure: toLoggable(failure) }, "a dependency is away");
    return { name, isReady: !isNeeded, shown: { status: "down", needed: isNeeded } };
  } finally {
    deadline.abort();
  }
}

async function timeout(signal: AbortSignal): Promise<never> {
  await pause(probeTimeoutMs, undefined, { signal });
  throw new Error(`There was no answer within ${probeTimeoutMs} ms.`);
}
