import { digestOf } from "../../src/content/encode-content.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import { newJob } from "../support/happen.ts";
import { openJetStreamLog } from "../support/jetstream-log.ts";
import type { Surroundings } from "../support/waybill.ts";
import { contentOf, historyOfEndedJob } from "./ended-job.ts";
import { createLogWriter } from "./log-writer.ts";

const recipientsPerJob = 1000;
const outcomesAndClaimsPerJob = 1.1 * recipientsPerJob;

export type WrittenHistory = { readonly messages: number; readonly events: number; readonly sent: number };

/** What mailings of a thousand leave in log and contents, as fast as the log takes it; no mail is sent. */
export async function writeHistory({ nats }: Pick<Surroundings, "nats">, events: number): Promise<WrittenHistory> {
  const { connection, close } = await openJetStreamLog(nats.config, nats.prefix);
  try {
    // Read models that follow meanwhile must find a content before they hear of its job.
    const contentStore = await createJetStreamContentStore(connection, nats.prefix);
    const writer = createLogWriter(connection.nats, nats.prefix);
    const jobs = Math.ceil(events / outcomesAndClaimsPerJob);
    for (let written = 0; written < jobs; written += 1) {
      const job = newJob();
      await contentStore.put(job, content);
      await writer.write(job, historyOfEndedJob(job, recipientsPerJob, digestOf(content)));
    }
    return { ...(await writer.finish()), sent: jobs * recipientsPerJob };
  } finally {
    await close();
  }
}

const content = contentOf(recipientsPerJob);
