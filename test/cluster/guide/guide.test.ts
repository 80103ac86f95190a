import { expect } from "chai";
import { whyNoReplicas } from "../../../src/nats/server-version.ts";
import { lookBefore, untilEnded, untilProjected, violationsAfter } from "../../faults/aftermath.ts";
import { ask } from "../../faults/ask.ts";
import { type Load, type LoadShape, startLoad } from "../../faults/load.ts";
import type { RawEvent } from "../../faults/log-reader.ts";
import { eventually } from "../../support/eventually.ts";
import { ownNatsVersion } from "../../support/own-binaries.ts";
import { expectRefusal } from "../expect-refusal.ts";
import { verifyLog } from "../faults/verify-log.ts";
import {
  type OperatedService,
  prepareSurroundings,
  singleUnit,
  startOperatedService,
  unitsOfGuide,
} from "./operated-service.ts";
import { becomeOperator, firstNodes, lastNodes, type Operator } from "./operator.ts";

const replicas = 3;

/** A mailing that keeps the worker busy, and a client's single mails beside it. */
const load: readonly LoadShape[] = [
  { recipientsPerJob: 200, everyMs: 5000, jobs: 1000, clients: 1 },
  { recipientsPerJob: 1, everyMs: 250, jobs: 100_000, clients: 3 },
];

/** What an operator does to a cluster that is at work. */
const headings = [
  "Look at the nodes",
  "Lose a node",
  "Add a node",
  "Replace a node for good",
  "Upgrade NATS",
  "Upgrade",
] as const;

/** ops/guides/operator.md, "Run a cluster", "A NATS cluster" and "Upgrade": each block, on nodes that the guide itself starts. */
describe("an operator who follows the guide on a cluster while mailings are under way", function () {
  this.timeout(600_000);

  it("keeps every job and three copies of each stream, or is told that NATS cannot keep several copies", async () => {
    if (whyNoReplicas(await ownNatsVersion(), replicas) !== null) return await expectRefusal(replicas);
    const surroundings = await prepareSurroundings();
    let service: OperatedService | null = null;
    const operator = await becomeOperator({
      env: { MYSQL_URL: surroundings.mysqlUrl, SMTP_URL: surroundings.mailServer.url },
      systemctl: async ([verb, unit = ""]) => {
        if (verb !== "restart") throw new Error(`The guide has never said "systemctl ${verb}"`);
        await service?.restart(unit);
        return "";
      },
    });
    try {
      await operator.follow("Run a cluster");
      service = await startOperatedService(operator, operator.configOf(firstNodes), surroundings, unitsOfGuide);
      await runTheCluster(operator, service);
      const backup = await backUp(operator, service);
      await service.stop();
      await operator.loseCluster();
      await operator.follow("A NATS cluster", 1);
      service = await startOperatedService(operator, operator.configOf(lastNodes), surroundings, singleUnit);
      await expectRestored(operator, service, backup);
    } finally {
      await service?.stop();
      await operator.leave();
      await surroundings.cleanUp();
    }
  });
});

async function runTheCluster(operator: Operator, service: OperatedService): Promise<void> {
  const before = await lookBefore(service);
  const jobs = startLoad(service, "operator", load);
  try {
    for (const heading of headings) {
      await operator.follow(heading);
      await untilAccepted(jobs, heading);
    }
    await expectCopies(operator);
    await jobs.stop();
    const remains = await untilEnded(service, jobs, before, 90_000);
    expect(remains.mails.length, "mails that arrived").to.be.greaterThan(0);
    expect([
      ...service.ownEnds(),
      ...(await untilProjected(service, remains)),
      ...(await violationsAfter(service, before, jobs, remains, 0)),
      ...(await verifyLog(service)),
    ]).to.deep.equal([]);
  } finally {
    void jobs.stop();
  }
}

async function untilAccepted({ accepted }: Load, heading: string): Promise<void> {
  const count = accepted.length;
  await eventually(() => {
    if (accepted.length === count) throw new Error(`No job was accepted after "${heading}"`);
  });
}

/** As NATS itself says it, and not `waybill doctor`. */
async function expectCopies({ withNats }: Operator): Promise<void> {
  await eventually(() =>
    withNats(async (nats) => {
      const { streams } = await nats.jetstreamManager({ checkAPI: false });
      for await (const { config, cluster } of streams.list()) {
        const { leader = "", replicas: followers = [] } = cluster ?? {};
        expect([leader, ...followers.map(({ name }) => name)], config.name).to.have.members([...lastNodes]);
        for (const { name, current, offline } of followers)
          expect({ name, current, offline: offline ?? false }, config.name).to.include({
            current: true,
            offline: false,
          });
      }
    }),
  );
}

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

/** A cluster that is lost with all its stores comes back from the backup, and owes what it owed. */
async function backUp(operator: Operator, { log, apiUrls }: OperatedService): Promise<Backup> {
  const [url] = apiUrls();
  const mailing = { subject: "Later", body: "text", recipients: ["later@example.com"], scheduledAt: inAnHour() };
  const asked = await ask("POST", `${url}/api/jobs`, mailing);
  expect(asked).to.include({ kind: "answered", status: 201 });
  const { jobId } = (asked as { readonly body: { readonly jobId: string } }).body;
  const events = [...(await log.readAll())];
  await operator.follow("A NATS cluster", 0);
  return { events, jobId };
}

type Backup = { readonly events: readonly RawEvent[]; readonly jobId: string };

async function expectRestored(operator: Operator, service: OperatedService, { events, jobId }: Backup): Promise<void> {
  expect((await service.log.readAll()).slice(0, events.length)).to.deep.equal(events);
  await expectCopies(operator);
  const { mails } = service.mailServer;
  const before = mails.length;
  const [url] = service.apiUrls();
  expect(await ask("PATCH", `${url}/api/jobs/${jobId}`, { scheduledAt: null })).to.include({ status: 200 });
  const next = { subject: "Next", body: "text", recipients: ["next@example.com"] };
  expect(await ask("POST", `${url}/api/jobs`, next)).to.include({ status: 201 });
  await eventually(() => expect(mails.length).to.equal(before + 2), 60_000);
  expect(mails.slice(before).flatMap(({ to }) => to)).to.have.members(["later@example.com", "next@example.com"]);
  expect(await verifyLog(service)).to.deep.equal([]);
}
