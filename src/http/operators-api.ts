import Koa, { type Middleware } from "koa";
import type { Logger } from "pino";
import type { Access } from "../access/access.ts";
import type { Probe } from "../health/probe.ts";
import { healthRoutes, type MetricsPage, metricsRoute } from "./routes/service.ts";
import { refuseForNow } from "./server/answer.ts";
import { createBodyBudget } from "./server/body-budget.ts";
import { answerEverything, answerUnrouted, logLostAnswer } from "./server/middleware.ts";
import { type ApiState, send } from "./server/mount-route.ts";
import type { Route } from "./server/route.ts";
import { createRouting, type Routing } from "./server/routing.ts";

export type OperatorsDependencies = {
  readonly probes: readonly Probe[];
  readonly metrics: MetricsPage;
  readonly logger: Logger;
};

/** Every route here is open to any client that reaches the port: no route asks for a key. */
const noKeys: Access = { admit: async () => ({ outcome: "key-missing" }), isStillAdmitted: () => false };

/** Health and metrics alone, on a port for the operators' network; processes without the API role serve them too. */
export function createOperatorsApi(dependencies: OperatorsDependencies): Koa {
  const routes = [...healthRoutes(dependencies), metricsRoute(dependencies.metrics, "open")];
  return openToAll(routes, dependencies.logger, answerUnrouted);
}

const startsForSeconds = 5;

/** Serves while a process waits for its servers: liveness, and the servers it waits for. All other routes come later. */
export function createWaitingApi(dependencies: Pick<OperatorsDependencies, "probes" | "logger">): Koa {
  const detail = "This process is starting and waits for its servers: /readyz names them.";
  return openToAll(healthRoutes(dependencies), dependencies.logger, () => async (ctx) => {
    send(ctx, refuseForNow("not-ready", detail, startsForSeconds));
  });
}

function openToAll(
  routes: readonly Route[],
  logger: Logger,
  otherwise: (routing: Routing) => Middleware<ApiState>,
): Koa {
  const routing = createRouting();
  // None of these routes takes a body.
  const entrance = { access: noKeys, bodies: createBodyBudget(0) };
  for (const route of routes) routing.mount("", route, entrance);
  const app = new Koa<ApiState>();
  app.on("error", logLostAnswer(logger));
  app.use(answerEverything(logger));
  app.use(routing.dispatch);
  app.use(otherwise(routing));
  return app as Koa;
}
