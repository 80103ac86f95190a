import type { Logger } from "pino";
import { conditionOf, type Probe } from "../../health/probe.ts";
import { alive, readiness } from "../answers/service.ts";
import { json } from "../server/answer.ts";
import { refuse } from "../server/problem.ts";
import { type Route, route } from "../server/route.ts";

type Finding = { readonly name: string; readonly isReady: boolean; readonly shown: object };
type Dependencies = { readonly probes: readonly Probe[]; readonly logger: Logger };

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
