import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { caused, jobCreated, recipientSent } from "../support/examples.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { type NatsCluster, startNatsCluster } from "./nats-cluster.ts";

describe("What is appended to a log with three replicas", function () {
  this.timeout(120_000);
  let cluster: NatsCluster;
  let opened: OpenedLog;
  before(async () => {
    cluster = await startNatsCluster();
    opened = await openJetStreamLog(cluster.config, cluster.prefix, { replicas: 3 });
  });
  after(async () => {
    await opened.close();
    await cluster.cleanUp();
  });

  it("is stored once, and has one place, however often it comes again while it is being stored", async () => {
    const { log } = opened;
    for (let round = 0; round < 50; round += 1) {
      const job = { tenant: "default", jobId: uuid() };
      const sent = caused(uuid(), recipientSent());
      const places = await Promise.all([1, 2, 3, 4].map(() => log.record(job, sent)));
      const [stored] = await log.readRecipients(job);
      expect(new Set(places)).to.deep.equal(new Set([stored?.sequence]));
    }
  });

  it("is a conflict where somebody else has the same decision in hand", async () => {
    const { log } = opened;
    for (let round = 0; round < 50; round += 1) {
      const job = { tenant: "default", jobId: uuid() };
      const created = caused(uuid(), jobCreated());
      const outcomes = await Promise.allSettled([1, 2, 3].map(() => log.append(job, created, 0)));
      const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.name] : []));
      expect(failures).to.deep.equal(["VersionConflict", "VersionConflict"]);
      expect(await log.readDecisions(job)).to.have.length(1);
    }
  });
});
