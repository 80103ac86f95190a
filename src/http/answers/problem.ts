import { Type } from "typebox";
import { scopes } from "../../access/key-ring.ts";
import { jobStatuses } from "../../domain/job/job-view.ts";
import { shownStatuses } from "../../domain/mailing/mailing-record.ts";
import { type ProblemCode, problemCodes } from "../../schemas/problem.ts";
import { count, instant, jobId, named, text } from "./parts.ts";
import { dependencies } from "./service.ts";

const fault = named("Fault", { pointer: text, message: text });

const listed = problemCodes.map(({ code, status, title }) => `- \`${code}\` (${status}): ${title}`).join("\n");

const code = Type.Unsafe<ProblemCode>({
  title: "ProblemCode",
  type: "string",
  enum: problemCodes.map((problem) => problem.code),
  description: `A stable code, one of these; each code has one status.\n\n${listed}`,
});

/** RFC 9457. Members after `requestId` appear with some codes only. */
export const problem = named("Problem", {
  type: text,
  title: text,
  status: Type.Integer({ minimum: 400, maximum: 599 }),
  detail: text,
  code,
  requestId: text,
  errors: Type.Optional(Type.Array(fault, { maxItems: 50 })),
  currentStatus: Type.Optional(
    Type.Union([
      Type.Enum([...jobStatuses]),
      Type.Enum([...shownStatuses]),
      Type.Enum(["open", "requeued", "ignored", "retried"]),
    ]),
  ),
  file: Type.Optional(text),
  scope: Type.Optional(Type.Enum([...scopes])),
  limit: Type.Optional(count),
  left: Type.Optional(count),
  resetsAt: Type.Optional(instant),
  matched: Type.Optional(count),
  expected: Type.Optional(count),
  jobsErased: Type.Optional(count),
  reportsErased: Type.Optional(count),
  outboxRowsErased: Type.Optional(count),
  leftoversErased: Type.Optional(count),
  schedulesChanged: Type.Optional(count),
  jobsNotEnded: Type.Optional(Type.Array(jobId)),
  mailingsNotEnded: Type.Optional(Type.Array(jobId)),
  isSuppressed: Type.Optional(Type.Boolean()),
  ready: Type.Optional(Type.Literal(false)),
  dependencies: Type.Optional(dependencies),
});
