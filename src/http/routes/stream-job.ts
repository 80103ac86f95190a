import type { JobMoment } from "../../live/job-fold.ts";
import { toJobAnswer } from "../answers/job.ts";
import { jobNotFound, json, refuseFaults } from "../server/answer.ts";
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

/** A mailing makes thousands of events a second; a client must see a change within 100 ms. */
const betweenProgressMs = 50;

/** GET /jobs/:jobId/stream: the job's progress as Server-Sent Events, until the job has ended. From the log alone. */
export const streamJobRoute = ({ live, ownWrites }: RouteDependencies) =>
  route({
    method: "GET",
    path: "/jobs/:jobId/stream",
    describes: {
      operation: "streamJob",
      summary: "The job's progress as Server-Sent Events, until the job has ended.",
      headers: ["Last-Event-ID"],
      answers: {
        200: {
          is: "`event: progress` and `event: status`, each with the job as data and its position in the log as id.",
        },
        204: { is: "The client has already seen the end.", isEmpty: true },
      },
      needs: ["log", "streams"],
      problems: ["job-not-found"],
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
      const ref = toJobRef(context, part("jobId"));
      if (ref === null) return jobNotFound();
      const stream = openStream(live, request);
      if (!stream.opened) return stream.answer;
      const seen = lastEventId.value;
      const watch = await live.watch(ref, seen, stream.signal);
      if (watch === null) return jobNotFound();
      const now = watch.now();
      if (now !== null && (seen ?? 0) > now.sequence) {
        return refuseFaults([lastEventIdFault(`is ${seen}; the job's last event is ${now.sequence}`)]);
      }
      // The client has seen the end, and a browser would reconnect for ever: 204 makes it stop.
      if (now !== null && hasEnded(now) && !watch.hasStatus()) return { ...json(null), status: 204 };
      const toFrame = (event: string, { job, sequence }: JobMoment): string => {
        ownWrites.show(ref, sequence);
        return toServerSentEvent(event, sequence, toJobAnswer(job, base));
      };
      const frames = progressFrames(watch, { frame: toFrame, hasEnded, betweenProgressMs }, stream.signal);
      return streaming(eventStreamType, frames, stream.signal);
    },
  });

const hasEnded = ({ job }: JobMoment): boolean => job.completedAt !== null;
