import type { EventLog, JobRef } from "../../event-log/event-log.ts";
import { faultsIn } from "../../schemas/fault.ts";
import { maxRecipients } from "../../schemas/job-request.ts";
import { readJobRequest } from "../../schemas/read-job-request.ts";
import { acceptJob } from "../accept-job.ts";
import { toCreatedAnswer } from "../created-answer.ts";
import { draftJob } from "../draft-job.ts";
import { dryRun } from "../dry-run.ts";
import { holdAnswer } from "../hold-answer.ts";
import { readIdempotencyKey } from "../idempotency-key.ts";
import { refuse, refuseFaults, refuseForNoRoom } from "../problem.ts";
import { refuseDraft } from "../refuse-draft.ts";
import { checkSender, refuseOverQuota } from "../refuse-mailing.ts";
import { refuseRejection } from "../rejection.ts";
import { toCause } from "../request-context.ts";
import { route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";
import { checkWebhookUrl } from "../webhook-url.ts";

/** Room for 5 MB of attachments in base64, beside the megabyte that a content may have. */
const withAttachments = 9 * 1024 * 1024;

/** POST /jobs: checks everything, stores the content, then the event; sending begins after the answer. */
export const createJobRoute = ({
  log,
  room,
  quota,
  contentStore,
  live,
  ownWrites,
  webhooks,
  logger,
  maxAttempts,
  mail,
  now,
}: RouteDependencies) =>
  route({
    method: "POST",
    path: "/jobs",
    takesBody: true,
    maxBodyBytes: withAttachments,
    handle: async (asked) => {
      const { context, base, body, header } = asked;
      if (body === undefined) return refuse("invalid-json", "There is no body; expected a JSON object.");
      const count = recipientCount(body);
      if (count > maxRecipients) {
        return refuse("too-many-recipients", `There are ${count} recipients; expected at most ${maxRecipients}.`);
      }
      const key = readIdempotencyKey(header("Idempotency-Key"));
      const request = readJobRequest(body);
      const sender = request.valid ? checkSender(request.value.from, context.limits) : request;
      const url = request.valid ? checkWebhookUrl(request.value.webhookUrl, "webhookUrl", webhooks.allowed) : request;
      if (!key.valid || !request.valid || !sender.valid || !url.valid) {
        return refuseFaults(faultsIn(key, sender, url));
      }

      const at = now();
      const draft = draftJob({ tenant: context.tenant, key: key.value, body, request: request.value, maxAttempts, at });
      const refusal = await refuseDraft(draft, request.value, contentStore.maxBytes);
      if (refusal !== null) return refusal;
      if (request.value.dryRun) return await dryRun(draft, mail, at);
      // A repetition needs no room: it is answered as it was the first time.
      const isRepeat = async () => key.value !== null && (await isThere(log, draft.job));
      if (!(await room.isLeftForJobs(draft.settings.total)) && !(await isRepeat())) return refuseForNoRoom();
      const wanted = { job: draft.job, recipients: draft.settings.total, at };
      const overQuota = await refuseOverQuota(quota, context.limits, wanted, isRepeat);
      if (overQuota !== null) return overQuota;
      const acceptance = await acceptJob(log, contentStore, draft, toCause(context), at);
      if (acceptance.outcome === "rejected") return refuseRejection(acceptance.rejection);
      ownWrites.remember(draft.job, acceptance.sequence);
      const created = toCreatedAnswer(draft.job.jobId, base, acceptance);
      return await holdAnswer({ live, logger }, asked, draft.job, created);
    },
  });

const isThere = async (log: EventLog, job: JobRef): Promise<boolean> => (await log.lastDecision(job)) > 0;

const recipientCount = (body: unknown): number => {
  const recipients = (body as { readonly recipients?: unknown }).recipients;
  return Array.isArray(recipients) ? recipients.length : 0;
};
