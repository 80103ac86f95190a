import type { AnswerOf } from "../answers/parts.ts";
import { throttleList, toThrottleAnswer } from "../answers/throttles.ts";
import { json } from "../server/answer.ts";
import { type Parameters, whole } from "../server/query.ts";
import { type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type ThrottlesQuery = { readonly limit: number };

const parameters: Parameters<ThrottlesQuery> = { limit: whole(20, 1, 100) };

/** The mail receivers that are slowed down now. They belong to no tenant, so only an operator's key may see them. */
export const throttlesRoute = ({ system, now }: Pick<RouteDependencies, "system" | "now">): Route =>
  route<ThrottlesQuery>({
    method: "GET",
    path: "/admin/throttles",
    describes: {
      operation: "listThrottles",
      summary: "The receivers of mail that have asked for patience and are slowed down, the slowest first.",
      answers: {
        200: {
          is: "The slowest ones. `total` counts all; `pausedUntil` is null for a receiver that gets mails now.",
          json: throttleList,
        },
      },
      needs: ["log"],
    },
    query: parameters,
    scope: "admin",
    handle: async ({ query: { limit } }) => {
      const found = await system.throttles();
      const atMs = Date.parse(now());
      const body: AnswerOf<typeof throttleList> = {
        total: found.length,
        data: found.slice(0, limit).map((one) => toThrottleAnswer(one, atMs)),
        nextCursor: null,
      };
      return json(body);
    },
  });
