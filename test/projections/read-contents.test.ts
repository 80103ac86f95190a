import { expect } from "chai";
import type { Knex } from "knex";
import { readContents } from "../../projections/batch.ts";
import type { JobContent } from "../../src/content/content-store.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { failureOf } from "../support/failure-of.ts";
import { newJob } from "../support/happen.ts";
import { exampleJobContent } from "../support/read-side.ts";

describe("reading the contents of many jobs", () => {
  const jobs = Array.from({ length: 50 }, () => newJob());
  const said: string[] = [];
  const target = (readContent: (job: JobRef) => Promise<JobContent | null>) => {
    const transaction = { raw: async (sql: string) => void said.push(sql) } as unknown as Knex.Transaction;
    return { transaction, sources: { readContent } };
  };
  const namedAfter = ({ jobId }: JobRef) => ({ ...exampleJobContent, name: jobId });

  it("yields them in the order of the jobs, whatever is read first, and reads no more than a few at a time", async () => {
    let reading = 0;
    let most = 0;
    const read = async (job: JobRef) => {
      reading += 1;
      most = Math.max(most, reading);
      for (let turns = jobs.indexOf(job) % 7; turns > 0; turns -= 1) await Promise.resolve();
      reading -= 1;
      return jobs.indexOf(job) === 3 ? null : namedAfter(job);
    };
    const names: (string | null)[] = [];
    for await (const { job, content } of readContents(jobs, target(read), 5)) {
      names.push(content?.name ?? null);
      if (content !== null) expect(content.name).to.equal(job.jobId);
    }
    expect(names).to.deep.equal(jobs.map(({ jobId }, index) => (index === 3 ? null : jobId)));
    expect(most).to.be.within(2, 5);
  });

  it("reads on while one takes long", async () => {
    let read = 0;
    const answers: (() => void)[] = [];
    const slowly = (job: JobRef) => {
      read += 1;
      return new Promise<ReturnType<typeof namedAfter>>((resolve) => answers.push(() => resolve(namedAfter(job))));
    };
    const contents = readContents(jobs, target(slowly), 5);
    const first = contents.next();
    expect(read).to.equal(5);
    for (const answer of answers.splice(0)) answer();
    await first;
    const second = contents.next();
    expect(read).to.equal(6);
    await second;
  });

  it("keeps the connection to the database alive while contents come slowly", async () => {
    const { now } = performance;
    let late = 0;
    performance.now = () => now.call(performance) + late;
    const slowly = async (job: JobRef) => {
      late += 700;
      return namedAfter(job);
    };
    try {
      for await (const _ of readContents(jobs, target(slowly), 1));
    } finally {
      performance.now = now;
    }
    expect(said).to.deep.equal(Array(10).fill("SELECT 1"));
  });

  it("fails where the store is away, and leaves nothing behind", async () => {
    const read = (job: JobRef) =>
      jobs.indexOf(job) < 3 ? Promise.resolve(namedAfter(job)) : Promise.reject(new Unavailable("away"));
    const all = async () => {
      for await (const _ of readContents(jobs, target(read)));
    };
    expect(await failureOf(all())).to.be.instanceOf(Unavailable);
  });
});
