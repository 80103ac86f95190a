import { v7 as uuid } from "uuid";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createJetStreamSealedLog } from "../../src/seals/jetstream-sealed-log.ts";
import { newSealKey, type SealKey } from "../../src/seals/seal-key.ts";
import type { ObservedSeal, SealObserver } from "../../src/seals/seal-observer.ts";
import type { SealedLog } from "../../src/seals/sealed-log.ts";
import { createSealer, type Sealer, type SealerSetup } from "../../src/seals/sealer.ts";
import { jobCompleted, jobCreated, jobStarted, recipientSent, recipientsClaimed } from "../support/examples.ts";
import { happen } from "../support/happen.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import type { TestNats } from "../support/services.ts";

/** A log on streams of its own, and its sealers. */
export type SealingSide = OpenedLog & {
  readonly prefix: string;
  readonly key: SealKey;
  readonly sealedLog: SealedLog;
  newSealer(changed?: Partial<SealerSetup>): Sealer;
  /** A whole job of five events and as many recipients as are wanted. */
  jobHappens(recipients?: number): Promise<JobRef>;
};

export async function openSealingSide(
  nats: TestNats,
  prefix = `${nats.prefix}${uuid().slice(-12)}`,
): Promise<SealingSide> {
  const opened = await openJetStreamLog(nats.config, prefix);
  const sealedLog = await createJetStreamSealedLog(opened.connection, prefix);
  const key = newSealKey();
  return {
    ...opened,
    prefix,
    key,
    sealedLog,
    newSealer: (changed = {}) =>
      createSealer({
        log: opened.log,
        sealedLog,
        key,
        observers: [],
        everyEvents: 10,
        everyMs: 3_600_000,
        now: () => new Date().toISOString(),
        report: (failure) => {
          throw failure;
        },
        ...changed,
      }),
    jobHappens: async (recipients = 1) => {
      const job = { tenant: "default", jobId: uuid() };
      const sent = Array.from({ length: recipients }, (_, recipient) => recipientSent({ recipient }));
      const claimed = recipientsClaimed({ recipients: sent.map(({ data }) => data.recipient) });
      await happen(opened.log, job, [
        jobCreated({ total: recipients }),
        jobStarted(),
        claimed,
        ...sent,
        jobCompleted(),
      ]);
      return job;
    },
  };
}

/** Remembers as long as the test lasts. */
export function createMemoryObserver(): SealObserver {
  let seen: ObservedSeal | null = null;
  return {
    name: "the test",
    last: async () => seen,
    remember: async (seal) => {
      if (seen === null || seal.sequence > seen.sequence) seen = seal;
    },
  };
}

export async function readAll<Entry>(batches: AsyncIterable<readonly Entry[]>): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const batch of batches) entries.push(...batch);
  return entries;
}
