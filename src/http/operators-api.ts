import Koa from "koa";
import type { Logger } from "pino";
import type { Access } from "../access/access.ts";
import { createBodyBudget } from "./body-budget.ts";
import { answerEverything, answerUnrouted, logLostAnswer, toContext } from "./middleware.ts";
import type { ApiState } from "./mount-route.ts";
import { healthRoutes, type Probe } from "./routes/health.ts";
import { type MetricsPage, metricsRoute } from "./routes/metrics.ts";
import { createRouting } from "./routing.ts";

export type OperatorsDependencies = {
  readonly probes: readonly Probe[];
  readonly metrics: MetricsPage;
  readonly logger: Logger;
};

/** Every route here is open to whoever reaches the port, so nobody is ever asked for a key. */
const noKeys: Access = { admit: () => ({ outcome: "key-missing" }), isStillAdmitted: () => false };

/** Health and metrics by themselves, on a port for operators' networks: also of a process that plays no API. */
export function createOperatorsApi(dependencies: OperatorsDependencies): Koa {
  const routing = createRouting();
  // None of these routes takes a body.
  const entrance = { access: noKeys, bodies: createBodyBudget(0) };
  for (const route of [...healthRoutes(dependencies), metricsRoute(dependencies.metrics, "open")]) {
    routing.mount("", route, entrance);
  }
  const app = new Koa<ApiState>();
  app.on("error", logLostAnswer(dependencies.logger));
  app.use(toContext());
  app.use(answerEverything(dependencies.logger));
  app.use(routing.dispatch);
  app.use(answerUnrouted(routing));
  return app as Koa;
}
