import type { Access } from "../../access/access.ts";
import { scopes } from "../../access/key-ring.ts";
import { caller } from "../answers/service.ts";
import { json } from "../server/answer.ts";
import { route } from "../server/route.ts";

/** GET /me: whom the service takes the caller for, and what the key is good for. Any valid key may ask. */
export const meRoute = (access: Pick<Access, "isStillAdmitted">) =>
  route({
    method: "GET",
    path: "/me",
    describes: {
      operation: "readCaller",
      summary: "Whom the service takes the caller for, and what the key is good for.",
      answers: { 200: { is: "The caller.", json: caller } },
    },
    scope: "any",
    handle: async ({ context: { tenant, actor } }) =>
      json({ tenant, actor, scopes: scopes.filter((scope) => access.isStillAdmitted(actor, scope)) }),
  });
