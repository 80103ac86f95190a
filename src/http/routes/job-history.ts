import { toEventAnswer } from "../../event-log/event-answer.ts";
import { makeEvidence } from "../../seals/evidence.ts";
import { ensureSealed } from "../../seals/sealer.ts";
import { createFairSemaphore } from "../../webhooks/semaphore.ts";
import { history } from "../answers/event.ts";
import { jobNotFound, json } from "../server/answer.ts";
import { toJobRef } from "../server/request-context.ts";
import { route } from "../server/route.ts";
import { ndjsonType } from "../streaming/event-stream.ts";
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
      return history.length === 0 ? jobNotFound() : json(history.map(toEventAnswer));
    },
  });

/** Each request reads the ranges of the log that hold the job, some thousand events: few at a time, one per tenant. */
const atATime = 2;

type Dependencies = Pick<RouteDependencies, "log" | "contentStore" | "seals" | "now">;

/** GET /jobs/:jobId/evidence: a file that proves the job's history offline. It holds addresses, as the job's logs do. */
export const evidenceRoute = ({ log, contentStore, seals: { key, sealedLog, sealer }, now }: Dependencies) => {
  const slots = createFairSemaphore(atATime, 1);
  return route({
    method: "GET",
    path: "/jobs/:jobId/evidence",
    describes: {
      operation: "readEvidence",
      summary: "A file that proves the job's history offline.",
      answers: { 200: { is: "The bundle: lines of JSON.", headers: ["Content-Disposition"] } },
      needs: ["log-writes"],
      problems: ["job-not-found"],
    },
    offers: [ndjsonType],
    handle: async ({ context, part }) => {
      const job = toJobRef(context, part("jobId"));
      const last = job === null ? undefined : (await log.readHistory(job)).at(-1);
      if (job === null || last === undefined) return jobNotFound();
      return await slots.run(job.tenant, async () => {
        await ensureSealed(sealedLog, sealer, last.sequence, now());
        const bundle = await makeEvidence({ log, sealedLog, contentStore, key, now }, job);
        if (bundle === null) return jobNotFound();
        const disposition = `attachment; filename="evidence-${job.jobId}.ndjson"`;
        return {
          status: 200,
          type: ndjsonType,
          headers: { "Content-Disposition": disposition, "Cache-Control": "no-store" },
          body: Buffer.from(bundle),
        };
      });
    },
  });
};
