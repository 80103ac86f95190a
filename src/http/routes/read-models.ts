import { readModelList, rebuildRequest, toReadModelAnswer, toRequestAnswer } from "../answers/system.ts";
import { type Answer, json } from "../server/answer.ts";
import { refuse } from "../server/problem.ts";
import { type ApiRequest, type Route, route } from "../server/route.ts";
import { askReadModel } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "readModels" | "log" | "logger" | "now">;

/** How the read models stand, and to ask for one to be made anew. */
export const readModelRoutes = (dependencies: Dependencies): readonly Route[] => [
  route({
    method: "GET",
    path: "/admin/projections",
    describes: {
      operation: "listReadModels",
      summary: "How each read model stands: its live rows, those in the making, those that a rebuild has kept.",
      answers: {
        200: { is: "All of them. `lastSequence` is the log's; null where it cannot be asked.", json: readModelList },
      },
      needs: ["read-model"],
    },
    scope: "admin",
    handle: () => list(dependencies),
  }),
  route({
    method: "POST",
    path: "/admin/projections/:name/rebuild",
    describes: {
      operation: "rebuildReadModel",
      summary: "Ask for a read model to be rebuilt from the log, while it goes on being read.",
      answers: {
        202: {
          is: "It is done by a process of the role projector. Asked again, it is the same.",
          json: rebuildRequest,
        },
      },
      needs: ["read-model"],
      problems: ["projection-not-found"],
    },
    scope: "admin",
    handle: (request) => askForRebuild(dependencies, request),
  }),
];

async function list({ readModels, log }: Dependencies): Promise<Answer> {
  const states = await askReadModel(readModels.list);
  // After the checkpoints: what is stored meanwhile shows as a lag, and never as a lead.
  const lastSequence = await log.state().then(
    (state) => state.lastSequence,
    () => null,
  );
  return json({ lastSequence, data: states.map(toReadModelAnswer), nextCursor: null });
}

async function askForRebuild(
  { readModels, logger, now }: Dependencies,
  { context, part }: ApiRequest,
): Promise<Answer> {
  const { actor, requestId } = context;
  const projection = part("name");
  const request = await askReadModel(() => readModels.requestRebuild(projection, actor, now()));
  if (request === null) return refuse("projection-not-found", "There is no read model of this name.");
  logger.info({ projection, actor, requestId }, "a rebuild was asked for");
  return json(toRequestAnswer(request), {}, 202);
}
