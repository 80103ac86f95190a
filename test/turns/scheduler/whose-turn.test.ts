import { expect } from "chai";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { eventually } from "../../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../../support/mail-server.ts";
import { startWriteSide, type WriteSide } from "../../support/write-side.ts";

const slots = 2;

describe("a worker with more to do than it has slots", () => {
  let writeSide: WriteSide;
  let server: TestMailServer;

  /** Ids of jobs, in the order in which they started. */
  let started: string[];
  let leaving: AbortController;

  const follow = async (signal: AbortSignal): Promise<void> => {
    for await (const batch of writeSide.log.follow({ afterSequence: 0, maxEvents: 500, signal })) {
      for (const entry of batch) {
        if (!("event" in entry)) continue;
        if (entry.event.type === "JobStarted") started.push(entry.jobId);
      }
    }
  };

  beforeEach(async () => {
    writeSide = await startWriteSide();
    server = await startMailServer();
    started = [];
    leaving = new AbortController();
    follow(leaving.signal).catch(() => {});
    writeSide.startScheduler();
  });
  afterEach(async () => {
    leaving.abort();
    await writeSide.cleanUp();
    await server.stop();
  });

  /** Created and queued, before any worker runs. */
  const queue = async (count: number, priority: "high" | "low" | "normal", tenant: string): Promise<JobRef[]> => {
    const jobs = await Promise.all(
      Array.from({ length: count }, () => writeSide.createJob(["ada@example.com"], { priority }, {}, tenant)),
    );
    await eventually(async () => {
      const isThere = await writeSide.turns.jobs();
      expect(jobs.filter((job) => !isThere(job))).to.deep.equal([]);
    }, 20_000);
    return jobs;
  };
  /** How many started before the job did. */
  const startsBefore = (job: JobRef | undefined): Promise<number> =>
    eventually(() => {
      const place = started.indexOf(job?.jobId ?? "");
      expect(place).to.be.at.least(0);
      return place;
    }, 20_000);

  it("takes the one mailing of a tenant before the five hundred that another has waiting", async function () {
    this.timeout(120_000);
    await queue(500, "normal", "many");
    const [single] = await queue(1, "normal", "single");
    writeSide.startWorker(server.url, { concurrency: slots });
    expect(await startsBefore(single)).to.be.at.most(slots);
  });

  it("takes a high one before the low ones that wait", async function () {
    this.timeout(120_000);
    await queue(300, "low", "default");
    const [high] = await queue(1, "high", "default");
    writeSide.startWorker(server.url, { concurrency: slots });
    expect(await startsBefore(high)).to.be.at.most(slots);
  });
});
