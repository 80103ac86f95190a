import fc from "fast-check";
import type { EventOfJob } from "../../src/domain/job/job-view.ts";
import { endOfBatch } from "../../src/event-log/batches.ts";
import type { JobRef, LogEvent, StoredEvent } from "../../src/event-log/event-log.ts";
import { anyHistory } from "./any-history.ts";
import { caused } from "./examples.ts";
import { newJob } from "./happen.ts";

export type JobWithHistory = { readonly job: JobRef; readonly history: readonly EventOfJob[] };

/** Some jobs at a time, their events mixed as workers mix them, and cut into batches anywhere between two entries. */
export const mixedHistories = fc
  .record({
    histories: fc.array(anyHistory, { minLength: 1, maxLength: 3 }),
    turns: fc.infiniteStream(fc.nat({ max: 2 })),
    sizes: fc.infiniteStream(fc.integer({ min: 1, max: 12 })),
    gaps: fc.infiniteStream(fc.constantFrom(0, 1, 1, 1, 2, 7)),
  })
  .map(({ histories, turns, sizes, gaps }) => {
    const jobs = histories.map((history): JobWithHistory => ({ job: newJob(), history }));
    return { jobs, batches: intoBatches(inOneLog(jobs, turns, gaps), sizes) };
  });

function inOneLog(
  jobs: readonly JobWithHistory[],
  turns: Iterator<number>,
  gaps: Iterator<number>,
): readonly LogEvent[] {
  const left = jobs.map(({ job, history }) => ({ job, events: [...history] }));
  const stored: StoredEvent[] = [];
  for (let sequence = 0; left.some(({ events }) => events.length > 0); ) {
    const { job, events } = left[turns.next().value % left.length] as (typeof left)[number];
    const event = events.shift();
    if (event === undefined) continue;
    const gap: number = gaps.next().value;
    const last = stored.at(-1);
    // No gap means the same entry, which is about one job.
    const index = gap === 0 && last?.jobId === job.jobId ? last.index + 1 : 0;
    if (index === 0) sequence += Math.max(1, gap);
    stored.push({ ...job, ...caused(`event-${sequence}-${index}`, event), sequence, index });
  }
  return stored;
}

function intoBatches(events: readonly LogEvent[], sizes: Iterator<number>): readonly (readonly LogEvent[])[] {
  const batches: (readonly LogEvent[])[] = [];
  for (let from = 0; from < events.length; ) {
    const end = endOfBatch(events, from, sizes.next().value);
    batches.push(events.slice(from, end));
    from = end;
  }
  return batches;
}
