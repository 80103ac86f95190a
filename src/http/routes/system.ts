import { toShownKey } from "../../access/key-ring.ts";
import { json } from "../answer.ts";
import { system as systemSchema } from "../answers/system.ts";
import { route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

/** GET /admin/system: what the service has in NATS, the workers of all processes, and the keys of all tenants. */
export const systemRoute = ({ system }: Pick<RouteDependencies, "system">) =>
  route({
    method: "GET",
    path: "/admin/system",
    describes: {
      operation: "readSystem",
      summary: "Streams and their durable consumers, the workers that answer, and all API keys.",
      answers: {
        200: { is: "As they are now. `breaker` is null for a worker that sends no mail.", json: systemSchema },
      },
      needs: ["log"],
    },
    scope: "admin",
    handle: async () => {
      const [streams, consumers, workers, keys] = await Promise.all([
        system.streams(),
        system.consumers(),
        system.workers(),
        system.keys(),
      ]);
      return json({ streams, consumers, workers, keys: keys.map(toShownKey) });
    },
  });
