import { testMailing } from "../../mailings/test-mailing.ts";
import { faultsIn } from "../../schemas/fault.ts";
import { readTestRequest, testRequest } from "../../schemas/mailing-action-request.ts";
import { jobPath } from "../answers/job.ts";
import { createdTest } from "../answers/mailing.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { json, mailingNotFound, refuseFaults, refuseMailing } from "../server/answer.ts";
import { toCause, toJobRef } from "../server/request-context.ts";
import { needed, route } from "../server/route.ts";
import { readIdempotencyKey, refuseCreation } from "./create-job.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** POST /mailings/:mailingId/test: the letter as it is, to some addresses of one's own. */
export const testMailingRoute = ({ log, room, quota, contentStore, ownWrites, now }: RouteDependencies) =>
  route({
    method: "POST",
    path: "/mailings/:mailingId/test",
    describes: {
      operation: "testMailing",
      summary: "Send the letter of a mailing that has not started to up to five addresses, as a job of its own.",
      body: needed(testRequest),
      headers: ["Idempotency-Key"],
      answers: {
        201: {
          is: "The job is accepted. It is no part of the mailing.",
          json: createdTest,
          headers: ["Location", "Event-Sequence", "Idempotency-Replayed"],
        },
      },
      needs: ["log-writes"],
      problems: [
        "mailing-not-found",
        "mailing-has-started",
        "mailing-has-ended",
        "too-many-mailing-tests",
        "content-too-large",
        "quota-exceeded",
        "idempotency-key-reused",
      ],
    },
    takesBody: true,
    handle: async ({ context, base, part, body, header, inTime }) => {
      const key = readIdempotencyKey(header("Idempotency-Key"));
      const request = readTestRequest(body);
      if (!key.valid || !request.valid) return refuseFaults(faultsIn(key, request));
      const mailing = toJobRef(context, part("mailingId"));
      if (mailing === null) return mailingNotFound();
      const order = { limits: context.limits, cause: toCause(context), at: now() };
      const ports = inTime({ log, room, quota, contentStore });
      const tested = await testMailing(ports, mailing, { request: request.value, key: key.value }, order);
      if (tested.outcome === "rejected") return refuseMailing(tested.rejection);
      if (tested.outcome === "refused") return refuseCreation(tested.refusal, order.at);
      const { job, created, sequence, isRepeat } = tested.creation;
      ownWrites.remember(mailing, tested.sequence);
      ownWrites.remember(job, sequence);
      const answer: AnswerOf<typeof createdTest> = {
        mailingId: mailing.jobId,
        jobId: job.jobId,
        recipients: created.data.total,
        createdAt: created.at,
      };
      const headers = { Location: jobPath(base, job.jobId), "Event-Sequence": String(sequence) };
      return json(answer, { ...headers, ...(isRepeat ? { "Idempotency-Replayed": "true" } : {}) }, 201);
    },
  });
