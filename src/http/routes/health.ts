import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { alive, readiness } from "../answers/service.ts";
import { json } from "../server/answer.ts";
import { toLoggable } from "../server/failure.ts";
import { refuse } from "../server/problem.ts";
import { type Route, route } from "../server/route.ts";

/**
 * Degraded is what works in part: it is shown, and no reason to take the process out of service. Other members are
 * shown beside it: how durable the log is, for instance.
 */
export type Condition = { readonly status: "up" | "degraded" | "down" } & Readonly<Record<string, unknown>>;

/** Whether something that the process depends on can be used now. */
export type Probe = {
  /** `nats`, `mysql`, … */
  readonly name: string;
  /** Whether a role of this process cannot do its work without it. */
  readonly isNeeded: boolean;
  /** To throw is to find it down. */
  readonly check: () => Promise<Condition>;
};

type Finding = { readonly name: string; readonly isReady: boolean; readonly shown: object };
type Dependencies = { readonly probes: readonly Probe[]; readonly logger: Logger };

const probeTimeoutMs = 2000;

export const healthRoutes = ({ probes, logger }: Dependencies): readonly Route[] => [
  route({
    method: "GET",
    path: "/livez",
    describes: {
      operation: "isAlive",
      summary: "Whether the process turns.",
      answers: { 200: { is: "It does.", json: alive } },
    },
    scope: "open",
    handle: async () => json({ alive: true }),
  }),
  route({
    method: "GET",
    path: "/readyz",
    describes: {
      operation: "isReady",
      summary: "Whether what the process needs can be reached, each by name.",
      answers: { 200: { is: "All that it needs.", json: readiness } },
      problems: ["not-ready"],
    },
    scope: "open",
    handle: async () => {
      const findings = await Promise.all(probes.map((probe) => examine(probe, logger)));
      const dependencies = Object.fromEntries(findings.map(({ name, shown }) => [name, shown]));
      const away = findings.filter(({ isReady }) => !isReady).map(({ name }) => name);
      if (away.length === 0) return json({ ready: true, dependencies });
      return refuse("not-ready", `Not ready: ${away.join(", ")}.`, { members: { ready: false, dependencies } });
    },
  }),
];

async function examine(probe: Probe, logger: Logger): Promise<Finding> {
  const { name, isNeeded } = probe;
  const { status, ...details } = await conditionOf(probe, logger);
  return { name, isReady: status !== "down" || !isNeeded, shown: { status, needed: isNeeded, ...details } };
}

/** What the probe finds; one that fails, or does not answer in time, finds it down. */
export async function conditionOf({ name, check }: Probe, logger: Logger): Promise<Condition> {
  const deadline = new AbortController();
  try {
    return await Promise.race([check(), timeout(deadline.signal)]);
  } catch (failure) {
    logger.warn({ dependency: name, failure: toLoggable(failure) }, "a dependency is away");
    return { status: "down" };
  } finally {
    deadline.abort();
  }
}

async function timeout(signal: AbortSignal): Promise<never> {
  await pause(probeTimeoutMs, undefined, { signal });
  throw new Error(`There was no answer within ${probeTimeoutMs} ms.`);
}
