import { digestOf } from "../../../src/content/encode-content.ts";
import { newJob } from "../../support/happen.ts";
import { openJetStreamLog } from "../../support/jetstream-log.ts";
import type { Surroundings } from "../../support/waybill.ts";
import { contentOf, historyOfEndedJob } from "../ended-job.ts";
import { createLogWriter } from "../log-writer.ts";

export type AgedLog = {
  readonly messages: number;
  readonly events: number;
  readonly seconds: number;
  /** Some of its jobs, from all of its length. */
  readonly jobIds: readonly string[];
};

const content = contentOf(1);
const contentSha256 = digestOf(content);

/** Jobs of one recipient that ended long ago, with all that a service leaves of them that erases nothing. */
export async function writeAgedLog({ nats }: Pick<Surroundings, "nats">, jobs: number, some: number): Promise<AgedLog> {
  const { connection, close } = await openJetStreamLog(nats.config, nats.prefix);
  try {
    const startedAt = performance.now();
    const writer = createLogWriter(connection.nats, nats.prefix);
    const jobIds: string[] = [];
    const every = Math.max(1, Math.floor(jobs / some));
    for (let written = 0; written < jobs; written += 1) {
      const job = newJob();
      if (written % every === 0) jobIds.push(job.jobId);
      await writer.writeContent(job, content);
      await writer.write(job, historyOfEndedJob(job, 1, contentSha256));
    }
    const stored = await writer.finish();
    return { ...stored, seconds: (performance.now() - startedAt) / 1000, jobIds };
  } finally {
    await close();
  }
}
