import { toEventAnswer } from "../../event-log/event-answer.ts";
import { readMailingHistory } from "../../history/mailing-from-log.ts";
import { history } from "../answers/event.ts";
import { json, mailingNotFound } from "../server/answer.ts";
import { toJobRef } from "../server/request-context.ts";
import { type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** What the log itself says of a mailing as a whole; each of its parts is a job with a history of its own. */
export const mailingHistoryRoutes = ({ log }: RouteDependencies): readonly Route[] => [
  route({
    method: "GET",
    path: "/mailings/:mailingId/events",
    describes: {
      operation: "readMailingEvents",
      summary: "The mailing's own history, as it was appended to the log; each of its parts has one of its own.",
      answers: { 200: { is: "Its events, oldest first.", json: history } },
      needs: ["log"],
      problems: ["mailing-not-found"],
    },
    scope: "events:read",
    handle: async ({ context, part }) => {
      const mailing = toJobRef(context, part("mailingId"));
      const events = mailing === null ? [] : await readMailingHistory(log, mailing);
      return events.length === 0 ? mailingNotFound() : json(events.map(toEventAnswer));
    },
  }),
];
