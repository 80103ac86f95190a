import { toShownKey } from "../../access/key-ring.ts";
import { jobTypes } from "../../job-kinds/all-job-kinds.ts";
import type { AnswerOf } from "../answers/parts.ts";
import {
  readModelList,
  rebuildRequest,
  systemOf,
  toPassedAnswer,
  toReadModelAnswer,
  toRequestAnswer,
} from "../answers/system.ts";
import { type Answer, json, refuse } from "../server/answer.ts";
import { type ApiRequest, type Route, route } from "../server/route.ts";
import { askReadModel } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "system" | "readModels" | "log" | "logger" | "now">;

const systemSchema = systemOf(jobTypes);

/** The streams and consumers in NATS, the workers of all processes, the keys of all tenants, and the passed messages. */
const systemRoute = ({ system, log }: Dependencies) =>
  route({
    method: "GET",
    path: "/admin/system",
    describes: {
      operation: "readSystem",
      summary:
        "Streams, the listeners of the log and the durable consumers, the workers that answer, all API keys, and messages of the log that an operator has passed by.",
      answers: {
        200: { is: "As they are now. `breaker` is null for a worker that sends no mail.", json: systemSchema },
      },
      needs: ["log"],
    },
    scope: "admin",
    handle: async () => {
      const [streams, consumers, workers, keys, passes] = await Promise.all([
        system.streams(),
        system.consumers(),
        system.workers(),
        system.keys(),
        log.readPasses(),
      ]);
      const body: AnswerOf<typeof systemSchema> = {
        streams,
        consumers,
        workers: workers.map(({ routes: _, ...worker }) => worker),
        keys: keys.map(toShownKey),
        passed: passes.map(toPassedAnswer),
      };
      return json(body);
    },
  });

/** For operators: the servers, the workers, the state of the read models, and the request to rebuild one. */
export const systemRoutes = (dependencies: Dependencies): readonly Route[] => [
  systemRoute(dependencies),
  route({
    method: "GET",
    path: "/admin/projections",
    describes: {
      operation: "listReadModels",
      summary: "The state of each read model: its live rows, those being built, and those that a rebuild has kept.",
      answers: {
        200: {
          is: "All read models. `lastSequence` is the log's; null where the log cannot be reached.",
          json: readModelList,
        },
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
      summary: "Rebuild a read model from the log, while the API goes on reading the present one.",
      answers: {
        202: {
          is: "A process with the role projector will rebuild it. A repeated request changes nothing.",
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
  // Read after the checkpoints: an event that is stored in between shows as a lag, and never as a lead.
  const lastSequence = await log.state().then(
    (state) => state.lastSequence,
    () => null,
  );
  const body: AnswerOf<typeof readModelList> = { lastSequence, data: states.map(toReadModelAnswer), nextCursor: null };
  return json(body);
}

async function askForRebuild(
  { readModels, logger, now }: Dependencies,
  { context, part }: ApiRequest,
): Promise<Answer> {
  const { actor, requestId } = context;
  const projection = part("name");
  const request = await askReadModel(() => readModels.requestRebuild(projection, actor, now()));
  if (request === null) return refuse("projection-not-found", "There is no read model of this name.");
  logger.info({ projection, actor, requestId }, "rebuild requested");
  return json(toRequestAnswer(request), {}, 202);
}
