import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

describe("a mailing that is asked for twice at the same moment, with one idempotency key", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let services: readonly WaybillProcess[];
  let client: ApiClient;

  before(async () => {
    [nats, database, mailServer] = await Promise.all([startNats(), freshDatabase(), startMailServer()]);
    const surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    const whole = spawnWaybill(surroundings, "api,scheduler,projector,worker");
    services = await Promise.all([whole, spawnWaybill(surroundings, "api")]);
    client = createApiClient(services[0]?.url ?? "");
  });
  after(async () => {
    await Promise.all(services.map((service) => service.terminate()));
    await mailServer.stop();
    await database.drop();
    await nats.cleanUp();
  });

  /** On a busy machine the answer can be that it is not known; the same request is sent again then, as that answer says. */
  const ask = async (url: string, key: string, body: object): Promise<string> => {
    const response = await fetch(`${url}/api/jobs`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": key },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { readonly jobId: string };
    if (response.status === 503) return await ask(url, key, body);
    expect(response.status, JSON.stringify(answer)).to.equal(201);
    return answer.jobId;
  };
  /** Asks for each of so many mailings at all of these places at once; each must be one job, and be mailed. */
  const areMailed = async (name: string, count: number, urls: readonly string[], more: object): Promise<void> => {
    const people = Array.from({ length: count }, (_, index) => `${name}${index}@example.com`);
    for (const email of people) {
      const body = { subject: "Your invoice", body: "Hello", recipients: [email], ...more };
      const jobIds = await Promise.all(urls.map((url) => ask(url, email, body)));
      expect(new Set(jobIds)).to.have.property("size", 1);
      for (const jobId of new Set(jobIds)) expect(await statusOf(jobId)).not.to.equal("failed");
    }
    await eventually(() => {
      const mailed = mailServer.mails.flatMap(({ to }) => to).filter((email) => people.includes(email));
      expect(mailed.sort()).to.deep.equal([...people].sort());
    }, 60_000);
  };
  const statusOf = async (jobId: string): Promise<unknown> =>
    ((await client.get(`/api/jobs/${jobId}`)).body as { readonly status: string }).status;

  it("of two processes is one job, and is mailed once", () =>
    areMailed(
      "two",
      100,
      services.map(({ url }) => url),
      {},
    ));

  it("of one process, with large attachments, is one job, and is mailed once", () => {
    const url = services[1]?.url ?? "";
    const content = randomBytes(3_000_000).toString("base64");
    return areMailed("large", 4, [url, url, url], {
      attachments: [{ filename: "a.bin", contentType: "application/octet-stream", content }],
    });
  });
});
