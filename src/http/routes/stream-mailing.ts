import type { MailingMoment } from "../../live/mailing-fold.ts";
import { toMailingAnswer } from "../answers/mailing.ts";
import { json, mailingNotFound, refuseFaults } from "../server/answer.ts";
import { readSequence } from "../server/query.ts";
import { toJobRef } from "../server/request-context.ts";
import { route } from "../server/route.ts";
import {
  eventStreamType,
  lastEventIdFault,
  openStream,
  streaming,
  toServerSentEvent,
} from "../streaming/event-stream.ts";
import { progressFrames } from "../streaming/progress-frames.ts";
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
    handle: async (request) => {
      const { context, base, part, header } = request;
      const lastEventId = readSequence(
        "Last-Event-ID",
        header("Last-Event-ID") || null,
        "the id of an event that was received",
      );
      if (!lastEventId.valid) return refuseFaults(lastEventId.faults);
      const seen = lastEventId.value;
      const ref = toJobRef(context, part("mailingId"));
      if (ref === null) return mailingNotFound();
      const stream = openStream(live, request);
      if (!stream.opened) return stream.answer;
      const watch = await live.watchMailing(ref, seen, stream.signal);
      const now = watch?.now() ?? null;
      if (watch === null || now === null) return mailingNotFound();
      if ((seen ?? 0) > now.sequence) {
        return refuseFaults([lastEventIdFault(`is ${seen}; the mailing's last event is ${now.sequence}`)]);
      }
      // As for a job: 204 makes a browser stop.
      if (hasEnded(now) && !watch.hasStatus()) return { ...json(null), status: 204 };
      const frame = (event: string, { mailing, sequence }: MailingMoment): string => {
        ownWrites.show(ref, sequence);
        return toServerSentEvent(event, sequence, toMailingAnswer(mailing, base));
      };
      const frames = progressFrames(watch, { frame, hasEnded, betweenProgressMs }, stream.signal);
      return streaming(eventStreamType, frames, stream.signal);
    },
  });

const hasEnded = ({ mailing }: MailingMoment): boolean => mailing.completedAt !== null;
