import { expect } from "chai";
import { v7 as uuid } from "uuid";
import { eventually } from "../support/eventually.ts";
import { caused, jobCreated, jobStarted, recipientSent } from "../support/examples.ts";
import { type OpenedLog, openJetStreamLog } from "../support/jetstream-log.ts";
import { startWaybill } from "../support/waybill.ts";
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
      const places = await Promise.all([1, 2, 3, 4].map(() => log.record(job, [sent])));
      const [stored] = await log.readRecipients(job);
      expect(new Set(places)).to.deep.equal(new Set([stored?.sequence]));
    }
  });

  it("is a conflict where another process is storing the same decision", async () => {
    const { log } = opened;
    for (let round = 0; round < 50; round += 1) {
      const job = { tenant: "default", jobId: uuid() };
      const created = caused(uuid(), jobCreated());
      const outcomes = await Promise.allSettled([1, 2, 3].map(() => log.append(job, [created], 0)));
      const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.name] : []));
      expect(failures).to.deep.equal(["VersionConflict", "VersionConflict"]);
      expect(await log.readDecisions(job)).to.have.length(1);
    }
  });

  it("excludes every rival decision, or the service does not start", async () => {
    const isRefused = await refusesToStart();
    const rivals = await openOnEachNode();
    let doubles = 0;
    for (let round = 0; round < 30; round += 1) {
      const job = { tenant: "default", jobId: uuid() };
      const created = await opened.log.append(job, [caused(uuid(), jobCreated())], 0);
      const outcomes = await Promise.allSettled(
        rivals.map(({ log }) => log.append(job, [caused(uuid(), jobStarted())], created)),
      );
      if (outcomes.filter(({ status }) => status === "fulfilled").length !== 1) doubles += 1;
    }
    await Promise.all(rivals.map(({ close }) => close()));

    expect(isRefused ? "refused" : doubles, `of NATS ${cluster.version}`).to.be.oneOf(["refused", 0]);
    expect(isRefused).to.equal(cluster.version.startsWith("2.9."));
  });

  /** Without a database and a mail server, which a worker comes to need later. */
  const refusesToStart = async (): Promise<boolean> => {
    const surroundings = { nats: cluster, mysqlUrl: "mysql://127.0.0.1:1/none", smtpUrl: "smtp://127.0.0.1:1" };
    try {
      const waybill = await startWaybill(surroundings, { ROLES: "worker", STREAM_REPLICAS: "3" });
      await waybill.stop();
      return false;
    } catch (failure) {
      expect(String(failure)).to.match(/STREAM_REPLICAS is 3, and NATS is [\d.]+:[\s\S]*Use NATS 2\.10\.27 or later/);
      return true;
    }
  };
  const openOnEachNode = (): Promise<OpenedLog[]> =>
    Promise.all(
      cluster.nodes.map(({ config }) => eventually(() => openJetStreamLog(config, cluster.prefix, { replicas: 3 }))),
    );
});
