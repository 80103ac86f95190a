import { faultsIn } from "../../schemas/fault.ts";
import { maxRecipients } from "../../schemas/job-request.ts";
import { readJobRequest } from "../../schemas/read-job-request.ts";
import { type Acceptance, acceptJob } from "../accept-job.ts";
import { type Answer, json } from "../answer.ts";
import { draftJob } from "../draft-job.ts";
import { readIdempotencyKey } from "../idempotency-key.ts";
import { jobPath } from "../job-answer.ts";
import { refuse, refuseFaults } from "../problem.ts";
import { refuseRejection } from "../rejection.ts";
import { toCause } from "../request-context.ts";
import { route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

/** POST /jobs: checks everything, stores the content, then the event; sending begins after the answer. */
export const createJobRoute = ({ log, contentStore, ownWrites, maxAttempts, now }: RouteDependencies) =>
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
      const acceptance = await acceptJob(log, contentStore, draft, toCause(context), at);
      if (acceptance.outcome === "rejected") return refuseRejection(acceptance.rejection);
      ownWrites.remember(draft.job, acceptance.sequence);
      return toAnswer(draft.job.jobId, base, acceptance);
    },
  });

type Accepted = Extract<Acceptance, { outcome: "accepted" }>;

/** The same for the first request and for every repetition of it, whatever became of the job meanwhile. */
function toAnswer(jobId: string, base: string, { created, isRepeat, sequence }: Accepted): Answer {
  const { scheduledAt, duplicates } = created.data;
  const status = scheduledAt === null ? "pending" : "scheduled";
  const headers = { Location: jobPath(base, jobId), "Event-Sequence": String(sequence) };
  const replayed = isRepeat ? { "Idempotency-Replayed": "true" } : {};
  return json({ jobId, status, createdAt: created.at, duplicates }, { ...headers, ...replayed }, 201);
}

const recipientCount = (body: unknown): number => {
  const recipients = (body as { readonly recipients?: unknown }).recipients;
  return Array.isArray(recipients) ? recipients.length : 0;
};
