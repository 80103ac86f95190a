import type { JobAnswer } from "../api/answers.ts";
import { counted, figure } from "./words.ts";

export const isMail = ({ type }: Pick<JobAnswer, "type">): boolean => type === "email.send";

/** What it makes is a file: it has rows, and no recipients. */
export const isReport = ({ type }: Pick<JobAnswer, "type">): boolean => type === "report.export";

/** What people know a job by. Of mail there was a subject; where there is none, it was erased. */
export const titleOf = (job: Pick<JobAnswer, "name" | "subject" | "type">): string =>
  job.name ?? job.subject ?? (isMail(job) ? `${job.type}, content erased` : job.type);

/** How far it has come, in the words of its kind. */
export function doneInWords(job: Pick<JobAnswer, "type" | "progress">): string {
  const { sent, total } = job.progress;
  if (isReport(job)) return counted(sent, "row");
  return `${figure(sent)} of ${figure(total)} ${isMail(job) ? "sent" : "delivered"}`;
}
