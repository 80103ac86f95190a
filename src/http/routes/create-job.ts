import type { EventLog, JobRef } from "../../event-log/event-log.ts";
import { faultsIn } from "../../schemas/fault.ts";
import { maxRecipients } from "../../schemas/job-request.ts";
import { readJobRequest } from "../../schemas/read-job-request.ts";
import { acceptJob } from "../accept-job.ts";
import { toCreatedAnswer } from "../created-answer.ts";
import { draftJob } from "../draft-job.ts";
import { readIdempotencyKey } from "../idempotency-key.ts";
import { refuse, refuseFaults, refuseForNoRoom } from "../problem.ts";
import { refuseRejection } from "../rejection.ts";
import { toCause } from "../request-context.ts";
import { route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

/** POST /jobs: checks everything, stores the content, then the event; sending begins after the answer. */
export const createJobRoute = ({ log, room, contentStore, ownWrites, maxAttempts, now }: RouteDependencies) =>
  route({
    method: "POST",
    path: "/jobs",
    takesBody: true,
    handle: async ({ context, base, body, header }) => {
      if (body === undefined) return refuse("invalid-json", "There is no body; expected a JSON object.");
      const count = recipientCount(body);
      if (count > maxRecipients) {
        return refuse("too-many-recipients", `There are ${count} recipients; expected at most ${maxRecipients}.`);
      }
      const key = readIdempotencyKey(header("Idempotency-Key"));
      const request = readJobRequest(body);
      if (!key.valid || !request.valid) return refuseFaults(faultsIn(key, request));

      const at = now();
      const draft = draftJob({ tenant: context.tenant, key: key.value, body, request: request.value, maxAttempts, at });
      if (draft.content.length > contentStore.maxBytes) {
        const size = `The content takes ${draft.content.length} bytes; expected at most ${contentStore.maxBytes}.`;
        return refuse("content-too-large", size);
      }
      // A repetition needs no room: it is answered as it was the first time.
      const isRefused = !(await room.isLeftForJobs()) && !(key.value !== null && (await isThere(log, draft.job)));
      if (isRefused) return refuseForNoRoom();
      const acceptance = await acceptJob(log, contentStore, draft, toCause(context), at);
      if (acceptance.outcome === "rejected") return refuseRejection(acceptance.rejection);
      ownWrites.remember(draft.job, acceptance.sequence);
      return toCreatedAnswer(draft.job.jobId, base, acceptance);
    },
  });

const isThere = async (log: EventLog, job: JobRef): Promise<boolean> => (await log.lastDecision(job)) > 0;

const recipientCount = (body: unknown): number => {
  const recipients = (body as { readonly recipients?: unknown }).recipients;
  return Array.isArray(recipients) ? recipients.length : 0;
};
