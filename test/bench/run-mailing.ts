import { type CpuMicros, countingCpu, sumOf } from "./process-usage.ts";
import type { Program } from "./program.ts";
import { type MailingShape, mailsOf } from "./sizes.ts";
import { mailing } from "./the-mail.ts";

export type MailingResult = {
  readonly mails: number;
  readonly mailsPerSecond: number;
  /** Until everything was written, too; null where the system does not tell. */
  readonly cpuMicros: CpuMicros | null;
};

/** Posts the jobs one after the other, as an application would, and waits for the end of the last one. */
export async function runMailing(program: Program, shape: MailingShape): Promise<MailingResult> {
  const mails = mailsOf(shape);
  const { result: seconds, cpuMicros } = await countingCpu(program.pids, async () => {
    const startedAt = performance.now();
    const allEnded = program.ended(shape.jobs);
    for (let job = 0; job < shape.jobs; job += 1) await postJob(program, mailing(shape.recipientsPerJob));
    await allEnded;
    const endedAt = performance.now();
    await program.settled();
    return (endedAt - startedAt) / 1000;
  });
  return { mails, mailsPerSecond: mails / seconds, cpuMicros };
}

/** Answers the id of the job. */
export async function postJob({ port, path }: Pick<Program, "port" | "path">, job: object): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(job),
  });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`The job was answered ${answer.status}: ${text}`);
  return (JSON.parse(text) as { readonly jobId: string }).jobId;
}

export const cpuPerMail = ({ cpuMicros, mails }: MailingResult): number | null =>
  cpuMicros === null ? null : sumOf(cpuMicros) / mails;
