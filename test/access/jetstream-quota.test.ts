import { expect } from "chai";
import { createJetStreamQuota } from "../../src/access/jetstream-quota.ts";
import type { Quota } from "../../src/access/quota.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { bucketSettings, connectTo } from "../support/access.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";

describe("The quota of a tenant", () => {
  let nats: OwnNats;
  let connections: JetStreamConnection[];
  let quotas: Quota[];

  before(async () => {
    nats = await startOwnNats();
    connections = await Promise.all([connectTo(nats), connectTo(nats)]);
    quotas = connections.map((connection) => createJetStreamQuota(connection, bucketSettings(nats)));
  });
  after(async () => {
    await Promise.all(connections.map(({ close }) => close()));
    await nats.cleanUp();
  });

  const take = (quota: Quota | undefined, tenant: string, jobId: string, recipients: number, day = "2026-11-21") => {
    if (quota === undefined) throw new Error("There is no quota.");
    return quota.take({ job: { tenant, jobId }, recipients, perDay: 100, at: `${day}T12:00:00.000Z` });
  };

  it("is given out exactly, however many ask at once, over two processes", async () => {
    const asked = Array.from({ length: 60 }, (_, index) => take(quotas[index % 2], "busy", `job-${index}`, 3));
    const granted = (await Promise.all(asked)).filter((answer) => answer.granted);
    expect(granted).to.have.lengthOf(33);
    expect(await take(quotas[0], "busy", "one-more", 2)).to.include({ granted: false, left: 1 });
    expect(await take(quotas[1], "busy", "the-last", 1)).to.include({ granted: true });
  });

  it("counts a job once that comes twenty times at once, over two processes", async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => take(quotas[index % 2], "again", "same", 60)));
    expect(await take(quotas[0], "again", "other", 41)).to.include({ granted: false, left: 40 });
  });

  it("is each tenant's own, and another one each day", async () => {
    expect(await take(quotas[0], "one", "a", 100)).to.include({ granted: true });
    expect(await take(quotas[0], "one", "b", 1)).to.deep.equal({
      granted: false,
      left: 0,
      resetsAt: "2026-11-22T00:00:00.000Z",
    });
    expect(await take(quotas[0], "two", "b", 100)).to.include({ granted: true });
    expect(await take(quotas[0], "one", "b", 100, "2026-11-22")).to.include({ granted: true });
  });

  it("is remembered over a crash of NATS, and refused to be guessed while it is away", async () => {
    await take(quotas[0], "crash", "a", 90);
    await nats.kill();
    await eventually(() => expect(connections[0]?.isUp()).to.equal(false));
    expect(await failureOf(take(quotas[0], "crash", "b", 1))).to.be.instanceOf(Unavailable);
    await nats.start();
    const answer = await eventually(() => take(quotas[0], "crash", "c", 11));
    expect(answer).to.include({ granted: false, left: 10 });
  });
});
