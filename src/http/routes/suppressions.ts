import { Type } from "typebox";
import { isEmailAddress } from "../../schemas/email-address.ts";
import { readSuppressionRequest, suppressionRequest } from "../../schemas/suppression-request.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { suppressionPage, suppression as suppressionSchema } from "../answers/recipients.ts";
import { type Answer, json, refuse, refuseFaults } from "../server/answer.ts";
import { type Parameter, type Parameters, whole } from "../server/query.ts";
import { type ApiRequest, needed, type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "suppressions" | "now">;

type ListQuery = { readonly email: string | null; readonly cursor: number | null; readonly limit: number };

const optionalAddress: Parameter<string | null> = {
  absent: null,
  expected: "an e-mail address such as ada@example.com",
  schema: Type.String({ format: "email" }),
  read: (text) => (isEmailAddress(text) ? text : null),
};

const parameters: Parameters<ListQuery> = {
  email: optionalAddress,
  cursor: whole(null, 1, Number.MAX_SAFE_INTEGER),
  limit: whole(20, 1, 100),
};

/** Addresses that a tenant never mails, however they came onto the list. These routes need no read model. */
export const suppressionRoutes = (dependencies: Dependencies): readonly Route[] => [
  route<ListQuery>({
    method: "GET",
    path: "/suppressions",
    describes: {
      operation: "listSuppressions",
      summary: "Addresses that are never mailed, in the order in which they were added.",
      answers: { 200: { is: "A page of them.", json: suppressionPage } },
      needs: ["log"],
    },
    query: parameters,
    handle: (request) => list(dependencies, request),
  }),
  route({
    method: "POST",
    path: "/suppressions",
    describes: {
      operation: "addSuppression",
      summary: "Put an address on the list.",
      body: needed(suppressionRequest),
      answers: {
        200: { is: "The address was already on the list.", json: suppressionSchema },
        201: { is: "The address is now on the list.", json: suppressionSchema },
      },
      needs: ["log-writes"],
    },
    takesBody: true,
    handle: (request) => add(dependencies, request),
  }),
  route({
    method: "DELETE",
    path: "/suppressions/:email",
    describes: {
      operation: "removeSuppression",
      summary: "Remove an address from the list; it may be mailed again.",
      answers: { 204: { is: "The address is no longer on the list.", isEmpty: true } },
      needs: ["log-writes"],
      problems: ["suppression-not-found"],
    },
    handle: async ({ context, part, inTime }) => {
      const { suppressions, now } = inTime(dependencies);
      const wasThere = await suppressions.remove(context.tenant, part("email"), now());
      return wasThere ? { status: 204, type: "application/json", headers: {}, body: undefined } : suppressionNotFound();
    },
  }),
];

/** In the order in which the addresses were added, so that a client that pages on also reads those added meanwhile. */
async function list(dependencies: Dependencies, { context, query, inTime }: ApiRequest<ListQuery>): Promise<Answer> {
  const { suppressions } = inTime(dependencies);
  const { email, cursor, limit } = query;
  if (email !== null) {
    const found = await suppressions.find(context.tenant, email);
    return json({ data: found === null ? [] : [found], nextCursor: null });
  }
  const page = await suppressions.page(context.tenant, { after: cursor ?? 0, limit });
  const body: AnswerOf<typeof suppressionPage> = { data: page.suppressions, nextCursor: page.next };
  return json(body);
}

async function add(dependencies: Dependencies, { context, body, inTime }: ApiRequest): Promise<Answer> {
  const { suppressions, now } = inTime(dependencies);
  const request = readSuppressionRequest(body ?? {});
  if (!request.valid) return refuseFaults(request.faults);
  const { email, reason = "manual" } = request.value;
  const { isNew, suppression } = await suppressions.add(context.tenant, email, reason, now());
  return json(suppression satisfies AnswerOf<typeof suppressionSchema>, {}, isNew ? 201 : 200);
}

const suppressionNotFound = (): Answer =>
  refuse("suppression-not-found", "This address is not on the suppression list.");
