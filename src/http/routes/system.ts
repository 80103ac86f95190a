import { toShownKey } from "../../access/key-ring.ts";
import { system as systemSchema, toPassedAnswer } from "../answers/system.ts";
import { json } from "../server/answer.ts";
import { route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** GET /admin/system: what the service has in NATS, the workers of all processes, the keys of all tenants, and what is passed by. */
export const systemRoute = ({ system, log }: Pick<RouteDependencies, "system" | "log">) =>
  route({
    method: "GET",
    path: "/admin/system",
    describes: {
      operation: "readSystem",
      summary:
        "Streams and their durable consumers, the workers that answer, all API keys, and messages of the log that an operator has passed by.",
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
      return json({ streams, consumers, workers, keys: keys.map(toShownKey), passed: passes.map(toPassedAnswer) });
    },
  });
