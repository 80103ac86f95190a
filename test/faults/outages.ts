import { type Cell, type Fault, lasting, unwrittenOfBothWorkers, workers } from "./fault.ts";
import type { RawEvent } from "./log-reader.ts";
import type { Stage } from "./stage.ts";

/** A job's attempts would be used up three seconds after the first of them. */
const load = { recipientsPerJob: 10, everyMs: 500, jobs: 1000, maxAttempts: 4 };
const outageMs = 60_000;
const jobsOfWorkers = 2 * 5;

/** Workers that start in the middle of an outage know nothing of it. */
const restartsDuring = 3;

/**
 * Outages twenty times as long as all the delays of a job: only the jobs by which the workers find out may lose an
 * attempt; all others wait, also while workers are restarted and find the mail server away.
 */
export const outages: readonly Fault[] = [
  outage("mail server away for 60 s, workers restarted", {
    begin: ({ mailServer }) => mailServer.stop(),
    end: ({ mailServer }) => mailServer.start(),
  }),
  outage("mail server greets with 421 for 60 s, the same", {
    begin: async ({ mailServer }) => {
      mailServer.greetWith({ code: 421, text: "4.3.2 come back later" });
      mailServer.disconnect();
    },
    end: async ({ mailServer }) => mailServer.greetWith(null),
  }),
];

type Outage = { readonly begin: (stage: Stage) => Promise<void>; readonly end: (stage: Stage) => Promise<void> };

function outage(name: string, { begin, end }: Outage): Fault {
  return {
    name,
    load,
    // The breaker looks every half minute after such a time, and then a minute's mailings are to be done.
    endWithinMs: 180_000,
    strike: async (stage, cell) => {
      await begin(stage);
      const pauseMs = outageMs / (restartsDuring * workers.length + 1);
      for (let restart = 0; restart < restartsDuring; restart += 1) {
        for (const actor of workers) {
          await lasting(pauseMs);
          if (actor === cell.victim) await stage.actors[actor].kill();
          else await stage.actors[actor].terminate();
          await stage.actors[actor].start();
        }
      }
      await lasting(pauseMs);
      await end(stage);
      return { ...unwrittenOfBothWorkers, alsoViolated: async () => lostAttempts(await stage.log.read(), cell) };
    },
  };
}

function lostAttempts(events: readonly RawEvent[], { accepted }: Cell): string[] {
  const jobs = new Set(accepted().map(({ jobId }) => jobId));
  const lost = new Map<string, number>();
  for (const { type, jobId } of events) {
    if (type === "JobRetryScheduled" && jobs.has(jobId)) lost.set(jobId, (lost.get(jobId) ?? 0) + 1);
  }
  const most = Math.max(0, ...lost.values());
  return [
    ...(lost.size > jobsOfWorkers ? [`${lost.size} jobs lost an attempt; at most ${jobsOfWorkers} had begun`] : []),
    // Each worker finds out for itself, and the job that it finds out by may have come from the other.
    ...(most > workers.length ? [`a job lost ${most} attempts in one outage`] : []),
  ];
}
