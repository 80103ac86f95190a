import { defaultRoute, expectedRouteName, isRouteName, type MailRoute } from "../../mail/routes/mail-route.ts";
import { maxRoutes, putRoute } from "../../mail/routes/put-route.ts";
import { checkMailRoute, mailRouteRequest } from "../../mail/routes/route-request.ts";
import { shown } from "../../schemas/fault.ts";
import { mailRouteList, mailRoute as mailRouteSchema, toMailRouteAnswer } from "../answers/mail-route.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { type Answer, json, refuse, refuseFaults } from "../server/answer.ts";
import { type ApiRequest, needed, type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "mailRoutes" | "system" | "logger">;

/** For operators: the SMTP accounts by which mails leave. No answer contains a password. */
export const mailRouteRoutes = (dependencies: Dependencies): readonly Route[] => [
  route({
    method: "GET",
    path: "/admin/routes",
    describes: {
      operation: "listMailRoutes",
      summary: "The mail routes, with their state in the workers that answer.",
      answers: { 200: { is: "All of them, the default one first.", json: mailRouteList } },
      needs: ["log"],
    },
    scope: "admin",
    handle: () => list(dependencies),
  }),
  route({
    method: "GET",
    path: "/admin/routes/:name",
    describes: {
      operation: "readMailRoute",
      summary: "One mail route, with its state in the workers that answer.",
      answers: { 200: { is: "The route.", json: mailRouteSchema } },
      needs: ["log"],
      problems: ["mail-route-not-found"],
    },
    scope: "admin",
    handle: async ({ part }) => {
      await dependencies.mailRoutes.book.refresh();
      return answerWith(dependencies, part("name"), 200);
    },
  }),
  route({
    method: "PUT",
    path: "/admin/routes/:name",
    describes: {
      operation: "putMailRoute",
      summary:
        "Create a mail route, or replace it. Workers follow within seconds. A URL without a password keeps the stored one if user and server stay the same.",
      body: needed(mailRouteRequest),
      answers: {
        200: { is: "The route was there, and is what the request says now.", json: mailRouteSchema },
        201: { is: "The new route.", json: mailRouteSchema },
      },
      needs: ["log-writes"],
      problems: ["mail-route-not-found", "secrets-key-missing", "too-many-mail-routes"],
    },
    scope: "admin",
    takesBody: true,
    handle: (request) => put(dependencies, request, true),
  }),
  route({
    method: "PATCH",
    path: "/admin/routes/:name",
    describes: {
      operation: "changeMailRoute",
      summary: "Change some fields of a mail route. Workers follow within seconds.",
      body: needed(mailRouteRequest),
      answers: { 200: { is: "The route as it is now.", json: mailRouteSchema } },
      needs: ["log-writes"],
      problems: ["mail-route-not-found", "secrets-key-missing", "too-many-mail-routes"],
    },
    scope: "admin",
    takesBody: true,
    handle: (request) => put(dependencies, request, false),
  }),
  route({
    method: "DELETE",
    path: "/admin/routes/:name",
    describes: {
      operation: "deleteMailRoute",
      summary: "Delete a mail route. Mails in flight on it end; jobs that asked for it fail.",
      answers: { 204: { is: "It is deleted.", isEmpty: true } },
      needs: ["log-writes"],
      problems: ["mail-route-not-found", "mail-route-is-default"],
    },
    scope: "admin",
    handle: (request) => remove(dependencies, request),
  }),
];

async function list({ mailRoutes: { book }, system }: Dependencies): Promise<Answer> {
  await book.refresh();
  const workers = await system.workers();
  const body: AnswerOf<typeof mailRouteList> = {
    data: book.routes().map((route) => toMailRouteAnswer(route, workers)),
    unreadable: [...book.unreadable()].map(([name, reason]) => ({ name, reason })),
    nextCursor: null,
  };
  return json(body);
}

async function answerWith({ mailRoutes, system }: Dependencies, name: string, status: number): Promise<Answer> {
  const found = findRoute(mailRoutes.book.routes(), name);
  return found === null ? notFound() : json(toMailRouteAnswer(found, await system.workers()), {}, status);
}

const findRoute = (routes: readonly MailRoute[], name: string): MailRoute | null =>
  routes.find((route) => route.name === name) ?? null;

const notFound = (): Answer => refuse("mail-route-not-found", "There is no mail route with this name.");

async function put(dependencies: Dependencies, { part, body, context }: ApiRequest, isWhole: boolean): Promise<Answer> {
  const { mailRoutes, logger } = dependencies;
  const name = part("name");
  if (!isRouteName(name)) {
    return refuseFaults([
      { pointer: "name", message: `the name in the path is ${shown(name)}; expected ${expectedRouteName}` },
    ]);
  }
  if (body === undefined) return refuse("invalid-json", "The body is missing; expected a JSON object.");
  const checked = checkMailRoute(name, body);
  if (!checked.valid) return refuseFaults(checked.faults);
  const others = mailRoutes.book.routes().filter((route) => route.name !== name).length;
  const stored = await putRoute(mailRoutes.store, name, checked.value, { isWhole, others });
  switch (stored.outcome) {
    case "not-found":
      return notFound();
    case "url-missing":
      return refuseFaults([{ pointer: "/url", message: "url is missing; expected smtp://user:password@host:port" }]);
    case "too-many":
      return refuse("too-many-mail-routes", `There are ${maxRoutes} mail routes, which is the most.`);
    case "no-secrets-key":
      return refuse("secrets-key-missing", "A password is stored encrypted only, and SECRETS_KEY is not set.");
    case "stored": {
      logger.info({ route: name, actor: context.actor, requestId: context.requestId }, "mail route stored");
      await mailRoutes.book.refresh();
      return answerWith(dependencies, name, stored.isNew ? 201 : 200);
    }
  }
}

async function remove({ mailRoutes, logger }: Dependencies, { part, context }: ApiRequest): Promise<Answer> {
  const name = part("name");
  if (name === defaultRoute) {
    return refuse("mail-route-is-default", "The route default is the setting SMTP_URL, and always there.");
  }
  if (!isRouteName(name) || !(await mailRoutes.store.remove(name))) return notFound();
  logger.info({ route: name, actor: context.actor, requestId: context.requestId }, "mail route deleted");
  await mailRoutes.book.refresh();
  return { status: 204, type: "application/json", headers: {}, body: undefined };
}
