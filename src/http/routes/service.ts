import type { Logger } from "pino";
import type { Access } from "../../access/access.ts";
import { scopes } from "../../access/key-ring.ts";
import { conditionOf, type Probe } from "../../health/probe.ts";
import { shareReads } from "../../process/shared-reads.ts";
import { alive, caller, readiness } from "../answers/service.ts";
import { json, refuse } from "../server/answer.ts";
import { type Route, route } from "../server/route.ts";

type Finding = { readonly name: string; readonly isReady: boolean; readonly shown: object };
type Dependencies = { readonly probes: readonly Probe[]; readonly logger: Logger };

/** However many clients ask, who need no key: each look asks NATS and the database. */
const lookEveryMs = 100;
const atAll = "";

export const healthRoutes = (
  { probes, logger }: Dependencies,
  look = shareReads(() => Promise.all(probes.map((probe) => examine(probe, logger))), lookEveryMs),
): readonly Route[] => [
  route({
    method: "GET",
    path: "/livez",
    describes: {
      operation: "isAlive",
      summary: "Whether the process is alive.",
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
      summary: "Whether the process can reach each of its dependencies, by name.",
      answers: { 200: { is: "Every dependency can be reached.", json: readiness } },
      problems: ["not-ready"],
    },
    scope: "open",
    handle: async () => {
      const findings = await look(atAll);
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

/** What the process measures, in the text format of Prometheus. It always answers, without what cannot be read now. */
export type MetricsPage = {
  readonly contentType: string;
  print(): Promise<string>;
};

/** The counts cover all tenants together, so on the API the route needs an operator's key. */
export const metricsRoute = (page: MetricsPage, scope: Route["scope"]): Route =>
  route({
    method: "GET",
    path: "/metrics",
    describes: {
      operation: "readMetrics",
      summary: "The metrics of the process, for Prometheus.",
      answers: { 200: { is: "The text format of Prometheus." } },
    },
    scope,
    offers: ["text/plain"],
    handle: async () => ({
      status: 200,
      type: page.contentType,
      headers: {},
      body: Buffer.from(await page.print()),
    }),
  });

/** GET /me: the tenant, actor and scopes of the caller's key. Any valid key may ask. */
export const meRoute = (access: Pick<Access, "isStillAdmitted">) =>
  route({
    method: "GET",
    path: "/me",
    describes: {
      operation: "readCaller",
      summary: "The tenant, actor and scopes of the caller's key.",
      answers: { 200: { is: "The caller.", json: caller } },
    },
    scope: "any",
    handle: async ({ context: { tenant, actor } }) =>
      json({ tenant, actor, scopes: scopes.filter((scope) => access.isStillAdmitted(actor, scope)) }),
  });
