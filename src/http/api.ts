import Router from "@koa/router";
import Koa from "koa";
import { answerEverything, answerUnrouted, logLostAnswer, toContext } from "./middleware.ts";
import { type ApiState, mountRoute } from "./mount-route.ts";
import { createOwnWrites } from "./own-writes.ts";
import type { RouteDependencies } from "./route-dependencies.ts";
import { changeJobRoutes } from "./routes/change-job.ts";
import { createJobRoute } from "./routes/create-job.ts";
import { deadLetterRoutes } from "./routes/decide-dead-letter.ts";
import { healthRoutes, type Probe } from "./routes/health.ts";
import { jobEventsRoute } from "./routes/job-events.ts";
import { jobLogsRoute } from "./routes/job-logs.ts";
import { listDeadLettersRoute } from "./routes/list-dead-letters.ts";
import { listJobsRoute } from "./routes/list-jobs.ts";
import { type Mailbox, mailboxRoutes } from "./routes/mailbox.ts";
import { readJobRoute } from "./routes/read-job.ts";

export type ApiDependencies = Omit<RouteDependencies, "ownWrites"> & {
  /** One for each thing that this process depends on. */
  readonly probes: readonly Probe[];
  /** Where the service catches its mail itself; else null. */
  readonly mailbox: Mailbox | null;
};

/** The HTTP API as a Koa application, not yet listening (see listen.ts). */
export function createApi(dependencies: ApiDependencies): Koa {
  const router = new Router<ApiState>({ sensitive: true });
  const forRoutes: RouteDependencies = { ...dependencies, ownWrites: createOwnWrites() };
  for (const base of ["/api", "/api/v1"]) {
    for (const route of jobRoutes(forRoutes)) mountRoute(router, base, route);
  }
  for (const route of [...healthRoutes(dependencies), ...mailboxRoutes(dependencies.mailbox)]) {
    mountRoute(router, "", route);
  }
  const app = new Koa<ApiState>();
  app.on("error", logLostAnswer(dependencies.logger));
  app.use(toContext());
  app.use(answerEverything(dependencies.logger));
  app.use(router.routes());
  app.use(answerUnrouted(router));
  return app as Koa;
}

const jobRoutes = (dependencies: RouteDependencies) => [
  createJobRoute(dependencies),
  readJobRoute(dependencies),
  listJobsRoute(dependencies),
  ...changeJobRoutes(dependencies),
  jobLogsRoute(dependencies),
  jobEventsRoute(dependencies),
  listDeadLettersRoute(dependencies),
  ...deadLetterRoutes(dependencies),
];
