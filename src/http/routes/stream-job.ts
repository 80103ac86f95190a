import type { JobMoment } from "../../history/live/job-fold.ts";
import { toJobAnswer } from "../answers/job.ts";
import { jobNotFound } from "../server/answer.ts";
import { route } from "../server/route.ts";
import { eventStreamType } from "../streaming/event-stream.ts";
import { streamProgress } from "../streaming/stream-progress.ts";
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
    handle: (request) =>
      streamProgress<JobMoment>(live, request, {
        name: "job",
        notFound: jobNotFound,
        watch: live.watch,
        hasEnded: ({ job }) => job.completedAt !== null,
        show: (ref, { job, sequence }) => {
          ownWrites.show(ref, sequence);
          return toJobAnswer(job, request.base);
        },
        betweenProgressMs,
      }),
  });
