import { expect } from "chai";
import { createContentReader } from "../../projections/following/content-reader.ts";
import { encodeContent } from "../../src/content/encode-content.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { failureOf } from "../support/failure-of.ts";
import { newJob } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { exampleJobContent } from "../support/read-side.ts";

describe("reading the content of jobs for a projection", () => {
  const bytes = encodeContent(exampleJobContent);

  /** Room for two contents; tells which jobs the store was asked for. */
  const createReader = () => {
    const store = createMemoryContentStore();
    const asked: string[] = [];
    const get = async (job: JobRef) => {
      asked.push(job.jobId);
      return store.get(job);
    };
    return { store, asked, read: createContentReader({ ...store, get }, bytes.byteLength * 2) };
  };

  const storedJobs = async (store: ReturnType<typeof createMemoryContentStore>) => {
    const jobs = [newJob(), newJob(), newJob()] as const;
    for (const job of jobs) await store.put(job, bytes);
    return jobs;
  };

  it("asks the store once for what is asked for again and again", async () => {
    const { store, asked, read } = createReader();
    const [one] = await storedJobs(store);
    for (const _ of [1, 2, 3]) expect(await read(one)).to.deep.equal(exampleJobContent);
    expect(asked).to.have.length(1);
  });

  it("asks the store once where several ask at the same time", async () => {
    const { store, asked, read } = createReader();
    const [one] = await storedJobs(store);
    expect(await Promise.all([read(one), read(one)])).to.deep.equal([exampleJobContent, exampleJobContent]);
    expect(asked).to.have.length(1);
  });

  it("asks again for what was erased while it was being read", async () => {
    const { store, asked, read } = createReader();
    const [one] = await storedJobs(store);
    const before = read(one);
    await store.erase(one);
    read.forget?.(one);
    expect(await read(one)).to.equal(null);
    await before;
    expect(await read(one)).to.equal(null);
    expect(asked).to.have.length(3);
  });

  it("keeps no more than it has room for, and what was asked for last", async () => {
    const { store, asked, read } = createReader();
    const [one, two, three] = await storedJobs(store);
    for (const job of [one, two, one, three, one, two]) await read(job);
    expect(asked).to.deep.equal([one, two, three, two].map(({ jobId }) => jobId));
  });

  it("takes a job of the same id of another tenant for another job", async () => {
    const { store, read } = createReader();
    const [one] = await storedJobs(store);
    await read(one);
    expect(await read({ ...one, tenant: "globex" })).to.equal(null);
  });

  it("asks again for what was not there", async () => {
    const { store, read } = createReader();
    const job = newJob();
    expect(await read(job)).to.equal(null);
    await store.put(job, bytes);
    expect(await read(job)).to.deep.equal(exampleJobContent);
  });

  it("tells a store that is away from content that is gone", async () => {
    const store = createMemoryContentStore();
    const read = createContentReader({ ...store, get: () => Promise.reject(new Error("503")) });
    expect(await failureOf(read(newJob()))).to.be.instanceOf(Unavailable);
  });
});
