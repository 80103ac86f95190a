import type { ContentStore } from "../../src/content/content-store.ts";
import type { ThrottleEvent } from "../../src/domain/throttles/events.ts";
import type { StoredThings } from "../../src/erasure/stored-things.ts";
import { endOfBatch } from "../../src/event-log/batches.ts";
import type { EventLog, JobRef, StoredEvent } from "../../src/event-log/event-log.ts";
import { isDecision } from "../../src/event-log/select-events.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { ask } from "./wire.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** An event of the log, and when it came into it, which may be long after its own time. */
export type Entry = StoredEvent & { readonly storedAtMs: number };

export type SharedLog = ReturnType<typeof createSharedLog>;

/** The one log and the one content store of a world, and the way to them that each process has. */
export function createSharedLog(world: World) {
  const memory = createMemoryEventLog();
  const contents = createMemoryContentStore();
  const entries: Entry[] = [];
  const onStored: ((entry: Entry) => void)[] = [];
  const things: { readonly job: JobRef; readonly storedAtMs: number; isSettled: boolean }[] = [];
  const followers = new Set<{ readonly process: SimulatedProcess; readonly heard: () => void }>();
  const hearers = new Set<{ readonly process: SimulatedProcess; readonly jobId: string; readonly heard: () => void }>();

  /** The next entry, unless the message about it is lost. */
  const arrivalFor = (process: SimulatedProcess) => {
    let hear = (): void => {};
    const heard = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const follower = { process, heard: hear };
    followers.add(follower);
    return { heard, forget: () => followers.delete(follower) };
  };
  const storing = async (job: JobRef, store: () => Promise<number>): Promise<number> => {
    const sequence = await store();
    if (sequence <= (entries.at(-1)?.sequence ?? 0)) return sequence;
    const stored = (await memory.readHistory(job)).filter((event) => event.sequence === sequence);
    for (const event of stored) {
      const entry = { ...event, storedAtMs: world.nowMs() };
      entries.push(entry);
      world.note(`  #${sequence} ${job.jobId} ${describe(event)}`);
      for (const tell of onStored) tell(entry);
    }
    for (const { process, heard } of followers) {
      if (!world.strikes(world.faults.lostMessages)) world.tell(process, world.latency(), heard);
    }
    if (!stored.some(isDecision)) return sequence;
    for (const { process, jobId, heard } of hearers) {
      if (jobId !== job.jobId || world.strikes(world.faults.lostMessages)) continue;
      world.tell(process, world.latency(), heard);
    }
    return sequence;
  };

  return {
    memory,
    entries,
    onStored,
    historyOf: (jobId: string): readonly Entry[] => entries.filter((entry) => entry.jobId === jobId),
    logOf: (process: SimulatedProcess): EventLog => {
      const asking = <Answer>(what: string, effect: () => Promise<Answer>): Promise<Answer> =>
        ask(world, process, what, effect);
      return {
        append: (job, entry, expected) =>
          asking(`append ${entry.map(({ event }) => event.type).join(", ")}`, () =>
            storing(job, () => memory.append(job, entry, expected)),
          ),
        record: (job, entry) =>
          asking(`record ${entry.map(describe).join(", ")}`, () => storing(job, () => memory.record(job, entry))),
        readDecisions: (job) => asking("read decisions", () => memory.readDecisions(job)),
        readSchedule: (schedule) => asking("read schedule", () => memory.readSchedule(schedule)),
        readMailing: (mailing) => asking("read mailing", () => memory.readMailing(mailing)),
        readRecipients: (job) => asking("read recipients", () => memory.readRecipients(job)),
        readFeedback: (job) => asking("read feedback", () => memory.readFeedback(job)),
        readNotices: (job) => asking("read notices", () => memory.readNotices(job)),
        readHistory: (job) => asking("read history", () => memory.readHistory(job)),
        lastDecision: (job) => asking("last decision", () => memory.lastDecision(job)),
        readPasses: () => asking("read passes", () => memory.readPasses()),
        readAlerts: () => asking("read alerts", () => memory.readAlerts()),
        state: () => asking("state", () => memory.state()),
        onDecision: ({ jobId }, heard) => {
          const hearer = { process, jobId, heard };
          hearers.add(hearer);
          return () => hearers.delete(hearer);
        },
        follow: async function* ({ afterSequence, maxEvents, signal }) {
          let position = afterSequence;
          const next = async () => {
            const first = entries.findIndex(({ sequence }) => sequence > position);
            return first < 0 ? [] : entries.slice(first, endOfBatch(entries, first, maxEvents));
          };
          while (!signal.aborted) {
            const arrival = arrivalFor(process);
            const batch = await asking("what follows", next).catch(() => []);
            position = batch.at(-1)?.sequence ?? position;
            if (batch.length > 0) yield batch;
            else await Promise.race([arrival.heard, new Promise((resolve) => setTimeout(resolve, 2000))]);
            arrival.forget();
          }
        },
      };
    },
    contents,
    hasUnsettled: (): boolean => things.some(({ isSettled }) => !isSettled),
    thingsOf: (process: SimulatedProcess): Pick<StoredThings, "unsettled"> => ({
      unsettled: (storedBeforeMs) =>
        ask(world, process, "unsettled content", async () =>
          things
            .filter(({ isSettled, storedAtMs }) => !isSettled && storedAtMs <= storedBeforeMs)
            .map((thing) => ({
              job: thing.job,
              attachment: null,
              settle: () => {
                thing.isSettled = true;
              },
            })),
        ),
    }),
    contentsOf: (process: SimulatedProcess): ContentStore => ({
      maxBytes: contents.maxBytes,
      attachments: contents.attachments,
      put: (job, content) =>
        ask(world, process, "put content", async () => {
          const isNew = await contents.put(job, content);
          if (isNew) things.push({ job, storedAtMs: world.nowMs(), isSettled: false });
          return isNew;
        }),
      get: (job) => ask(world, process, "get content", () => contents.get(job)),
      rewrite: (job, change) => ask(world, process, "rewrite content", () => contents.rewrite(job, change)),
      erase: (job) => ask(world, process, "erase content", () => contents.erase(job)),
    }),
  };
}

/** An event on one line: what it is, whose, and about which recipients. */
function describe({
  event,
  actor,
}: Pick<StoredEvent<StoredEvent["event"] | ThrottleEvent>, "event" | "actor">): string {
  const { data } = event;
  const parts: string[] = [event.type];
  if ("run" in data && "attempt" in data) parts.push(`${data.run}/${data.attempt}`);
  if ("recipient" in data) parts.push(`recipient ${data.recipient}`);
  if ("recipients" in data && data.recipients !== null) parts.push(`recipients ${data.recipients.join(",")}`);
  if ("scope" in data) parts.push(data.scope);
  if ("error" in data) parts.push(data.error.code);
  return `${parts.join(" ")} by ${actor}`;
}
