import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import * as example from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { openJetStreamLog } from "../support/jetstream-log.ts";
import type { Ground } from "./ground.ts";
import { body, recipients, subject } from "./the-mail.ts";

const recipientsPerJob = 1000;
/** As many as a worker with ten connections claims at a time. */
const recipientsPerClaim = 10;
const eventsPerJob = recipientsPerJob + recipientsPerJob / recipientsPerClaim;
const jobsAtOnce = 2;
const eventsAtOnce = 200;

type WithNats = { readonly nats: Pick<Ground["nats"], "config"> };

export type WrittenHistory = { readonly events: number; readonly sent: number };

/** What mailings leave in the log, written with the service's own code as fast as the log takes it; no mail is sent. */
export async function writeHistory(
  { nats }: WithNats,
  prefix: string,
  recipientEvents: number,
): Promise<WrittenHistory> {
  const { log, connection, close } = await openJetStreamLog(nats.config, prefix);
  try {
    const contentStore = await createJetStreamContentStore(connection, prefix);
    const content = encodeContent({
      name: null,
      metadata: {},
      subject,
      html: null,
      text: body,
      from: null,
      replyTo: null,
      headers: {},
      recipients: recipients(recipientsPerJob).map((email) => ({ email })),
    });
    let left = Math.ceil(recipientEvents / eventsPerJob);
    const sent = left * recipientsPerJob;
    const writeJobs = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const job = newJob();
        await contentStore.put(job, content);
        await writeJob(log, job, digestOf(content));
      }
    };
    await Promise.all(Array.from({ length: jobsAtOnce }, writeJobs));
    return { events: (await log.state()).lastSequence, sent };
  } finally {
    await close();
  }
}

async function writeJob(log: EventLog, job: JobRef, contentSha256: string): Promise<void> {
  const named = (what: string): string => `${job.jobId}/${what}`;
  const at = new Date().toISOString();
  const created = example.jobCreated({ total: recipientsPerJob, contentSha256 }, at);
  const createdAt = await log.append(job, [example.caused(named("created"), created)], 0);
  await log.record(job, [example.caused(named("1/1/queued"), example.jobQueued({}, at))]);
  const startedAt = await log.append(
    job,
    [example.caused(named("1/1/started"), example.jobStarted({}, at))],
    createdAt,
  );
  await writeOutcomes(log, job, at);
  const counts = example.counts({ total: recipientsPerJob, sent: recipientsPerJob });
  const completed = example.jobCompleted({ counts }, at);
  await log.append(job, [example.caused(named("1/1/completed"), completed)], startedAt);
}

async function writeOutcomes(log: EventLog, job: JobRef, at: string): Promise<void> {
  const named = (what: string): string => `${job.jobId}/1/1/${what}`;
  const writing: Promise<number>[] = [];
  for (let first = 0; first < recipientsPerJob; first += recipientsPerClaim) {
    const claimed = Array.from({ length: recipientsPerClaim }, (_, index) => first + index);
    const claim = example.recipientsClaimed({ recipients: claimed }, at);
    writing.push(log.record(job, [example.caused(named(`claim/${first}`), claim)]));
    for (const recipient of claimed) {
      const sent = example.recipientSent({ recipient, messageId: `<${recipient}.${job.jobId}@example.org>` }, at);
      writing.push(log.record(job, [example.caused(named(`${recipient}/RecipientSent`), sent)]));
    }
    if (writing.length >= eventsAtOnce) await Promise.all(writing.splice(0));
  }
  await Promise.all(writing);
}
