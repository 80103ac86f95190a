import { eventually } from "../support/eventually.ts";
import { type Cell, costsNothing, type Fault, lasting } from "./fault.ts";
import { foldLog, hasEnded } from "./fold-of-log.ts";

const jobsMaxBytes = 3_000_000;

/**
 * The log fills up: new jobs are refused, and what becomes of the others fits into the rest. They all end while the
 * limit stands; then it is lifted.
 */
const fullLog: Fault = {
  name: "the log reaches its limit",
  stage: { jobsMaxBytes },
  // More jobs than the workers can do, so that many have been accepted and not mailed when the log refuses the next.
  load: { recipientsPerJob: 10, everyMs: 25, jobs: 250 },
  strike: async ({ log }, { accepted, told }) => {
    await eventually(() => {
      if (told("503") === 0) throw new Error("no new job was refused");
    }, 60_000);
    await eventually(async () => {
      const folded = foldLog(await log.read());
      const open = accepted().filter(({ jobId }) => {
        const job = folded.get(jobId);
        return job === undefined || !hasEnded(job);
      });
      if (open.length === 0) return;
      const jobs = `${open.length} of ${accepted().length} jobs`;
      throw new Error(`${jobs} did not end below the limit: ${await log.bytes()} of ${jobsMaxBytes} bytes are taken`);
    }, 150_000);
    const atLast = await log.bytes();
    await log.limitTo(-1);
    // Jobs are refused for what those before them will have written: no more than fits, and not much less.
    const isFilled = atLast > jobsMaxBytes * 0.6 && atLast < jobsMaxBytes;
    return {
      ...costsNothing,
      alsoViolated: () =>
        isFilled ? [] : [`with no new job accepted the log came to ${atLast} of ${jobsMaxBytes} bytes`],
    };
  },
};

/**
 * The disk of NATS is full: it answers nothing any more, and room alone does not heal it, a restart does. What had been
 * answered 201 by then is there afterwards, and the mails that went out while nothing could be recorded are recorded.
 */
const fullDisk: Fault = {
  name: "the disk of NATS is full, 10 s",
  stage: { smallDisk: true },
  strike: async ({ disk, nats }, cell) => {
    await disk?.fill();
    await untilRefused(cell);
    await lasting(10_000);
    await disk?.makeRoom();
    await nats.stop();
    await nats.start();
    return costsNothing;
  },
};

async function untilRefused({ told }: Cell): Promise<void> {
  await eventually(() => {
    if (told("503") === 0) throw new Error("no new job was refused");
  }, 30_000);
}

export const logFaults: readonly Fault[] = [fullLog, fullDisk];
