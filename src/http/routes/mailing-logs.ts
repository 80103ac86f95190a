import { placeToText } from "../../event-log/place.ts";
import { mailingPath } from "../answers/mailing.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { mailingLogEntries } from "../answers/recipients.ts";
import { json, mailingNotFound } from "../server/answer.ts";
import { toJobRef } from "../server/request-context.ts";
import { route } from "../server/route.ts";
import { askAboutParts } from "./ask-mailing.ts";
import { readSequenceHeader } from "./ask-read-model.ts";
import { type LogQuery, logParameters, nextLogPage } from "./job-logs.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** GET /mailings/:mailingId/logs: what happened to each recipient of the mailing, over all parts, oldest first. */
export const mailingLogsRoute = (dependencies: RouteDependencies) =>
  route<LogQuery>({
    method: "GET",
    path: "/mailings/:mailingId/logs",
    describes: {
      operation: "readMailingLogs",
      summary:
        "What happened to each recipient of a mailing, attempt by attempt, over all parts. `email` is a whole address, in any case.",
      headers: ["Min-Sequence"],
      answers: {
        200: {
          is: "In the order of the log. A page can be shorter than `limit`; the `Link` header leads to the next one.",
          json: mailingLogEntries,
          headers: ["Read-Sequence", "Link"],
        },
      },
      needs: ["log", "read-model"],
      problems: ["mailing-not-found", "read-model-behind"],
    },
    query: logParameters,
    handle: async ({ context, base, part, query, minSequence, inTime }) => {
      const mailing = toJobRef(context, part("mailingId"));
      if (mailing === null) return mailingNotFound();
      const asked = await askAboutParts(inTime(dependencies), mailing, minSequence, () =>
        dependencies.logs.listOfMailing(mailing, query),
      );
      if ("refusal" in asked) return asked.refusal;
      const { entries, next, readSequence } = asked.found;
      const link =
        next === null ? {} : { Link: nextLogPage(mailingPath(base, mailing.jobId), query, placeToText(next)) };
      return json(entries satisfies AnswerOf<typeof mailingLogEntries>, {
        ...readSequenceHeader(readSequence),
        ...link,
      });
    },
  });
