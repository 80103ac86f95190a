import { expect } from "chai";
import { digestOfJob } from "../../src/archive/archive-format.ts";
import type { ArchiveIndex } from "../../src/archive/archive-index.ts";
import { createJetStreamArchiveIndex } from "../../src/archive/jetstream-archive-index.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import { newJob } from "../support/happen.ts";
import { startNats, type TestNats } from "../support/services.ts";

describe("The index of archived jobs", () => {
  let nats: TestNats;
  let connection: JetStreamConnection;
  const open = (): ArchiveIndex => createJetStreamArchiveIndex(connection, { prefix: nats.prefix, replicas: 1 });

  before(async () => {
    nats = await startNats();
    connection = await connectJetStream(nats.config, "test", () => {});
  });
  after(async () => {
    await connection.close();
    await nats.cleanUp();
  });

  it("knows each job of each file, and no other", async () => {
    const jobs = Array.from({ length: 5000 }, () => newJob());
    const digests = jobs.map(digestOfJob);
    await open().addJobs([
      { number: 1, digests },
      { number: 2, digests: digests.slice(0, 10) },
    ]);
    for (const [at, job] of jobs.slice(0, 20).entries()) {
      expect(await open().numbersOf(job)).to.deep.equal(at < 10 ? [1, 2] : [1]);
      expect(await open().numbersOf({ ...job, tenant: "another" })).to.deep.equal([]);
    }
    for (const job of jobs.slice(-200)) expect(await open().numbersOf(job)).to.deep.equal([1]);
    for (let other = 0; other < 200; other += 1) expect(await open().numbersOf(newJob())).to.deep.equal([]);
  });

  it("keeps what several processes add at the same moment, and takes a job once however often it is added", async () => {
    const job = newJob();
    const digests = [digestOfJob(job)];
    await Promise.all([5, 3, 4, 3].map((number) => open().addJobs([{ number, digests }])));
    await open().addJobs([{ number: 4, digests }]);
    expect(await open().numbersOf(job)).to.deep.equal([3, 4, 5]);
  });

  it("says how many jobs of a file it lacks", async () => {
    const jobs = Array.from({ length: 100 }, () => newJob());
    const digests = jobs.map(digestOfJob);
    await open().addJobs([{ number: 7, digests: digests.slice(0, 60) }]);
    const files = [
      { number: 7, digests },
      { number: 8, digests: digests.slice(0, 5) },
    ];
    expect(await open().lacking(files)).to.equal(45);
    await open().addJobs(files);
    expect(await open().lacking(files)).to.equal(0);
  });

  it("holds sixteen bytes for a job and a file", async () => {
    const manager = await connection.nats.jetstreamManager();
    const job = newJob();
    await open().addJobs([{ number: 9, digests: [digestOfJob(job)] }]);
    const { data } = await manager.streams.getMessage(`KV_${nats.prefix}_ARCHIVE`, {
      last_by_subj: `$KV.${nats.prefix}_ARCHIVE.jobs.${digestOfJob(job).readUInt16BE(0) >> 2}`,
    });
    expect(data.length % 16).to.equal(0);
  });

  it("lists files in the order of their numbers, not in the order in which they were added", async () => {
    const file = (number: number) => ({
      number,
      from: number * 10 - 9,
      to: number * 10,
      count: 10,
      root: "0".repeat(64),
      file: `${number}`,
      bytes: 1,
      sha256: "0".repeat(64),
    });
    await Promise.all([open().addFiles([file(2)]), open().addFiles([file(3)]), open().addFiles([file(1)])]);
    await open().addFiles([file(2)]);
    expect(await open().files()).to.deep.equal([file(1), file(2), file(3)]);
  });
});
