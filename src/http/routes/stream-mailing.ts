import type { MailingMoment } from "../../history/live/mailing-fold.ts";
import { toMailingAnswer } from "../answers/mailing.ts";
import { mailingNotFound } from "../server/answer.ts";
import { route } from "../server/route.ts";
import { eventStreamType } from "../streaming/event-stream.ts";
import { streamProgress } from "../streaming/stream-progress.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** Each shows the whole mailing, whose counts are summed up over all parts. */
const betweenProgressMs = 250;

/** GET /mailings/:mailingId/stream: the progress of the whole as Server-Sent Events, until it has ended. From the log alone. */
export const streamMailingRoute = ({ live, ownWrites }: RouteDependencies) =>
  route({
    method: "GET",
    path: "/mailings/:mailingId/stream",
    describes: {
      operation: "streamMailing",
      summary:
        "The progress of a mailing as Server-Sent Events, four times a second at most, until the mailing has ended. " +
        "With Last-Event-ID it begins with the present state, if that is another one.",
      headers: ["Last-Event-ID"],
      answers: {
        200: {
          is: "`event: progress` and `event: status`, each with the mailing as data and its position in the log as id.",
        },
        204: { is: "The client has already seen the end.", isEmpty: true },
      },
      needs: ["log", "streams"],
      problems: ["mailing-not-found"],
    },
    offers: [eventStreamType],
    handle: (request) =>
      streamProgress<MailingMoment>(live, request, {
        name: "mailing",
        notFound: mailingNotFound,
        watch: live.watchMailing,
        hasEnded: ({ mailing }) => mailing.completedAt !== null,
        show: (ref, { mailing, sequence }) => {
          ownWrites.show(ref, sequence);
          return toMailingAnswer(mailing, request.base);
        },
        betweenProgressMs,
      }),
  });
