import type { JobAnswer } from "../api/answers.ts";
import { counted, figure } from "./words.ts";

export const isMail = ({ type }: Pick<JobAnswer, "type">): boolean => type === "email.send";

/** A report makes a file: it has rows, and no recipients. */
export const isReport = ({ type }: Pick<JobAnswer, "type">): boolean => type === "report.export";

/** The title by which people know a job. Mailings have a subject; where it is missing, it was erased. */
export const titleOf = (job: Pick<JobAnswer, "name" | "subject" | "type">): string =>
  job.name ?? job.subject ?? (isMail(job) ? `${job.type}, content erased` : job.type);

/** The progress of a job, in the words of its kind. */
export function doneInWords(job: Pick<JobAnswer, "type" | "progress">): string {
  const { sent, total } = job.progress;
  if (isReport(job)) return counted(sent, "row");
  return `${figure(sent)} of ${figure(total)} ${isMail(job) ? "sent" : "delivered"}`;
}
