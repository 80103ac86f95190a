import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { startNats, startOwnMysql, type TestMysql, type TestNats } from "../support/services.ts";
import { type Surroundings, spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

/** Idle connections are dismissed after 5 s, and were found silent 10 s later; it took 17 to 19 s to end the process. */
const frozenMs = 21_000;
/** The default of SHUTDOWN_TIMEOUT. */
const shutdownMs = 10_000;
const everyRole = "api,scheduler,worker,projector,webhooks,outbox";
const recipients = Array.from({ length: 20 }, (_, index) => `p${index}@example.com`);
const mailing = { subject: "Frozen", body: "text", recipients };

describe("a service whose database freezes", function () {
  this.timeout(180_000);

  let nats: TestNats;
  let mysql: TestMysql;
  let mailServer: TestMailServer;
  let surroundings: Surroundings;
  const started: WaybillProcess[] = [];

  const start = async (roles: string): Promise<WaybillProcess> => {
    const service = await spawnWaybill(surroundings, roles);
    started.push(service);
    return service;
  };

  before(async () => {
    [nats, mysql, mailServer] = await Promise.all([startNats(), startOwnMysql(), startMailServer()]);
    surroundings = { nats, mysqlUrl: (await mysql.freshDatabase()).url, smtpUrl: mailServer.url };
  });
  after(async () => {
    await mysql.resume();
    for (const service of started) await service.kill();
    await mailServer.stop();
    await mysql.cleanUp();
    await nats.cleanUp();
  });

  it("mails on in every process, and shows all of it once the database thaws", async () => {
    const services = await Promise.all([everyRole, "api"].map(start));
    const client = createApiClient((services[0] as WaybillProcess).url);
    const jobIds = [await client.create(mailing)];
    await client.ended(jobIds[0] as string);
    for (const { url } of services.filter((service) => service.url !== "")) {
      const reads = Array.from({ length: 30 }, () => createApiClient(url).get("/api/jobs"));
      expect((await Promise.all(reads)).every(({ status }) => status === 200)).to.equal(true);
    }
    jobIds.push(await client.create(mailing));
    mysql.suspend();
    const frozenAt = Date.now();
    while (Date.now() - frozenAt < frozenMs) {
      mailServer.forgetMails();
      jobIds.push(await client.create(mailing));
      await eventually(() => expect(mailServer.mails.length).to.be.at.least(20));
      const { status } = await client.get("/api/jobs?pageSize=1");
      expect(status, "a list meanwhile").to.equal(503);
      await pause(500);
    }
    for (const service of services) expect(service.hasEnded(), service.output()).to.equal(false);

    await mysql.resume();
    for (const { url } of services.filter((service) => service.url !== "")) {
      await eventually(async () => {
        const { status, body } = await createApiClient(url).get("/api/jobs?pageSize=100");
        expect(status).to.equal(200);
        const { data } = body as { data: { id: string; status: string }[] };
        expect(data.map(({ id, status }) => [id, status])).to.have.deep.members(jobIds.map((id) => [id, "completed"]));
      }, 30_000);
    }
    const codes = await Promise.all(services.map((service) => service.terminate()));
    expect(codes).to.deep.equal(services.map(() => 0));
  });

  it("stops in order and in time when it is told to while the database is frozen", async () => {
    const services = await Promise.all([everyRole, "projector"].map(start));
    const client = createApiClient((services[0] as WaybillProcess).url);
    await client.ended(await client.create(mailing));
    mysql.suspend();
    mailServer.forgetMails();
    await client.create(mailing);
    await eventually(() => expect(mailServer.mails.length).to.be.at.least(20));
    const toldAt = Date.now();
    const stopped = await Promise.all(
      services.map(async (service) => ({ code: await service.terminate(), tookMs: Date.now() - toldAt })),
    );
    const said = services.map(({ output }) => output()).join("\n");
    expect(
      stopped.map(({ code }) => code),
      JSON.stringify(stopped) + said,
    ).to.deep.equal([0, 0]);
    // The ends of two processes at once take some seconds more on a busy machine; one that waits for the database never ends.
    for (const { tookMs } of stopped) expect(tookMs).to.be.below(shutdownMs + 10_000);
  });
});
