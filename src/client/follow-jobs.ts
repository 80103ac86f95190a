import { setTimeout as pause } from "node:timers/promises";
import { type Json, type Service, ServiceAway, ServiceRefused } from "./service.ts";

const askEveryMs = 1000;
const askedAtOnce = 10;

export type Totals = {
  /** The number of jobs in each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The sums of the progress counters of all jobs. */
  readonly progress: Readonly<Record<string, number>>;
  /** Recipients whose outcome is final. */
  readonly done: number;
};

/** Adds up the statuses and the progress of several jobs. */
export function toTotals(jobs: readonly Json[]): Totals {
  const statuses: Record<string, number> = {};
  const progress: Record<string, number> = {};
  for (const job of jobs) {
    statuses[job.status] = (statuses[job.status] ?? 0) + 1;
    for (const [name, count] of Object.entries<number>(job.progress)) progress[name] = (progress[name] ?? 0) + count;
  }
  const { total = 0, pending = 0, deferred = 0 } = progress;
  return { statuses, progress, done: total - pending - deferred };
}

/** Polls the jobs until every one has ended, through outages of the service, and returns them. */
export async function untilAllEnded(
  service: Service,
  jobIds: readonly string[],
  interrupted: AbortSignal,
  onProgress: (totals: Totals) => void,
): Promise<readonly Json[]> {
  const latest = new Map<string, Json>();
  const goesOn = (jobId: string): boolean => (latest.get(jobId)?.completedAt ?? null) === null;
  for (;;) {
    const open = jobIds.filter(goesOn);
    for (let first = 0; first < open.length; first += askedAtOnce) {
      const asked = open.slice(first, first + askedAtOnce).map(async (jobId) => {
        const job = await askForJob(service, jobId);
        if (job !== null) latest.set(jobId, job);
      });
      await Promise.all(asked);
    }
    onProgress(toTotals([...latest.values()]));
    if (!jobIds.some(goesOn)) return [...latest.values()];
    await pause(askEveryMs, undefined, { signal: interrupted });
  }
}

/** Null while the service is unavailable: the caller polls again anyway. */
async function askForJob(service: Service, jobId: string): Promise<Json | null> {
  try {
    return (await service.ask(`/api/jobs/${jobId}`)).body;
  } catch (failure) {
    const isPassing = failure instanceof ServiceAway || (failure instanceof ServiceRefused && failure.status >= 429);
    if (isPassing) return null;
    throw failure;
  }
}

/**
 * Calls `onChange` with the job whenever it changes, and returns the ended job. Once the service has sent the job, an
 * outage of the service does not end the watch. `path` is the path of the job.
 */
export async function watchJob(
  service: Service,
  path: string,
  onChange: (job: Json) => void,
  onWaiting: (reason: string) => void,
): Promise<Json> {
  let last: Json = null;
  const onJob = (job: Json): void => {
    last = job;
    onChange(job);
  };
  for (;;) {
    await followStream(service, path, onJob).catch((failure: unknown) => {
      if (!(failure instanceof ServiceAway && last !== null)) throw failure;
    });
    // The job ended before the watch began, or the service closed the stream.
    if (last === null || last.completedAt === null) {
      onJob((await service.askPatiently(path, { method: "GET" }, onWaiting)).body);
    }
    if (last.completedAt !== null) return last;
  }
}

async function followStream(service: Service, path: string, onJob: (job: Json) => void): Promise<void> {
  for await (const line of service.lines(`${path}/stream`, "text/event-stream")) {
    if (line.startsWith("data: ")) onJob(JSON.parse(line.slice("data: ".length)));
  }
}
