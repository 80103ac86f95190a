import type { Instant } from "../../domain/message.ts";
import type { Refusal } from "../../intake/refusal.ts";
import { problemOfRefusal } from "../../problems/problem-of-refusal.ts";
import type { Answer } from "../server/answer.ts";
import { answerProblem, refuseForNoRoom } from "../server/problem.ts";

/** Why a job was not created, with what HTTP says of when to come back. */
export function refuseCreation(refusal: Refusal, at: Instant): Answer {
  if (refusal.code === "event-log-full") return refuseForNoRoom();
  return answerProblem(problemOfRefusal(refusal), refusal.code === "quota-exceeded" ? quotaHeaders(refusal, at) : {});
}

function quotaHeaders(
  { limit, left, resetsAt }: Extract<Refusal, { code: "quota-exceeded" }>,
  at: Instant,
): Readonly<Record<string, string>> {
  const seconds = Math.ceil((Date.parse(resetsAt) - Date.parse(at)) / 1000);
  return {
    "Retry-After": String(seconds),
    "RateLimit-Policy": `"recipients";q=${limit};qu="recipients";w=86400`,
    RateLimit: `"recipients";r=${left};t=${seconds}`,
  };
}
