import { toEventAnswer } from "../../event-log/event-answer.ts";
import { isDecision } from "../../event-log/select-events.ts";
import { history } from "../answers/event.ts";
import { jobNotFound, json } from "../server/answer.ts";
import { toJobRef } from "../server/request-context.ts";
import { route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** GET /jobs/:jobId/events: the job's history as it was appended, from the log itself. */
export const jobEventsRoute = ({ log }: RouteDependencies) =>
  route({
    method: "GET",
    path: "/jobs/:jobId/events",
    describes: {
      operation: "readJobEvents",
      summary: "The job's history, as it was appended to the log.",
      answers: { 200: { is: "Its events, oldest first.", json: history } },
      needs: ["log"],
      problems: ["job-not-found"],
    },
    scope: "events:read",
    handle: async ({ context, part }) => {
      const job = toJobRef(context, part("jobId"));
      const history = job === null ? [] : await log.readHistory(job);
      // The id of a mailing has facts, who was told of its end, and no decision about a job.
      return history.some(isDecision) ? json(history.map(toEventAnswer)) : jobNotFound();
    },
  });
