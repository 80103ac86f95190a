import type { JobRef } from "../../event-log/event-log.ts";
import { isDecision } from "../../event-log/select-events.ts";
import { readMailingHistory } from "../../history/mailing-from-log.ts";
import { createFairSemaphore } from "../../process/semaphore.ts";
import { makeEvidence } from "../../seals/evidence.ts";
import { ensureSealed } from "../../seals/sealer.ts";
import { type Answer, jobNotFound, mailingNotFound } from "../server/answer.ts";
import { toJobRef } from "../server/request-context.ts";
import { type Route, route } from "../server/route.ts";
import { ndjsonType } from "../streaming/event-stream.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** Each request reads the ranges of the log that hold the job, some thousand events: few at a time, one per tenant. */
const atATime = 2;

type Dependencies = Pick<RouteDependencies, "log" | "contentStore" | "seals" | "now">;

/** Files that prove a history offline. They hold it as the log does, and addresses as the logs do. */
export function evidenceRoutes(dependencies: Dependencies): readonly Route[] {
  const { log } = dependencies;
  const answer = createAnswer(dependencies);
  const answers = { 200: { is: "The bundle: lines of JSON.", headers: ["Content-Disposition"] } } as const;
  return [
    route({
      method: "GET",
      path: "/jobs/:jobId/evidence",
      describes: {
        operation: "readEvidence",
        summary: "A file that proves the job's history offline.",
        answers,
        needs: ["log-writes"],
        problems: ["job-not-found"],
      },
      scope: "events:read",
      offers: [ndjsonType],
      handle: async ({ context, part, gone }) => {
        const job = toJobRef(context, part("jobId"));
        const history = job === null ? [] : await log.readHistory(job);
        const found = history.some(isDecision) ? await answer(job, history.at(-1), gone()) : null;
        return found ?? jobNotFound();
      },
    }),
    route({
      method: "GET",
      path: "/mailings/:mailingId/evidence",
      describes: {
        operation: "readMailingEvidence",
        summary:
          "A file that proves the mailing's own history offline, and names all of its parts; each part has evidence as a job.",
        answers,
        needs: ["log-writes"],
        problems: ["mailing-not-found"],
      },
      scope: "events:read",
      offers: [ndjsonType],
      handle: async ({ context, part, gone }) => {
        const mailing = toJobRef(context, part("mailingId"));
        const history = mailing === null ? [] : await readMailingHistory(log, mailing);
        return (await answer(mailing, history.at(-1), gone())) ?? mailingNotFound();
      },
    }),
  ];
}

type Last = { readonly sequence: number } | undefined;

function createAnswer({ log, contentStore, seals: { key, sealedLog, sealer }, now }: Dependencies) {
  const slots = createFairSemaphore(atATime, 1);
  return async (ref: JobRef | null, last: Last, gone: AbortSignal): Promise<Answer | null> => {
    if (ref === null || last === undefined) return null;
    return await slots.run(ref.tenant, async () => {
      // A client that lost its patience asks again: nothing is made for those that it left behind.
      gone.throwIfAborted();
      await ensureSealed(sealedLog, sealer, last.sequence, now());
      const bundle = await makeEvidence({ log, sealedLog, contentStore, key, now }, ref);
      if (bundle === null) return null;
      const disposition = `attachment; filename="evidence-${ref.jobId}.ndjson"`;
      return {
        status: 200,
        type: ndjsonType,
        headers: { "Content-Disposition": disposition, "Cache-Control": "no-store" },
        body: Buffer.from(bundle),
      };
    });
  };
}
