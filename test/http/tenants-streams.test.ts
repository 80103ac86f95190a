import { expect } from "chai";
import { pino } from "pino";
import { type Service, startService } from "../../src/roles/wiring.ts";
import { type CompleteConfig, readConfig } from "../../src/settings/config.ts";
import { openAccess, type TestAccess } from "../support/access.ts";
import { openStream, piecesOf, readUntil } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { bearer, storedKey } from "../support/keys.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { settingsFor } from "../support/waybill.ts";

const recipients = ["sent@acme-mail.example", "refused@acme-mail.example", "deferred@acme-mail.example"];
const suppressed = "suppressed@acme-mail.example";
const ofAcme = { subject: "Secret of Acme", body: "text", deferFor: 0 };

type Line = Readonly<Record<string, unknown>>;
type Key = Readonly<Record<string, string>>;

describe("Two tenants of one service", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let receiver: Receiver;
  let access: TestAccess;
  let service: Service;
  let acme: Key;
  let shop: Key;
  let operator: Key;
  const logged: Line[] = [];

  before(async () => {
    [nats, database, mailServer, receiver] = await Promise.all([
      startNats(),
      freshDatabase(),
      startMailServer(),
      startReceiver(),
    ]);
    access = await openAccess(nats);
    const keyOf = async (tenant: string, scopes = {}): Promise<Key> =>
      bearer((await storedKey(access.store, { tenant, ...scopes })).text);
    acme = await keyOf("acme");
    shop = await keyOf("shop");
    operator = await keyOf("ops", { scopes: ["admin"] });
    const surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    const env = { ...settingsFor(surroundings), AUTH: "required", WEBHOOK_ALLOW: "127.0.0.0/8" };
    // As much as is ever logged above debug level, where addresses may be.
    const logger = pino({ level: "info" }, { write: (line: string) => logged.push(JSON.parse(line)) });
    service = await startService(readConfig(env) as CompleteConfig, logger, null);
    mailServer.answerRecipient("refused@acme-mail.example", { code: 550, text: "5.1.1 <refused@acme-mail.example>" });
    mailServer.answerMessage("deferred@acme-mail.example", { code: 451, text: "4.7.1 deferred@acme-mail.example" });
    await eventually(async () => expect((await ask("GET", "/api/jobs", shop)).status).to.equal(200));
  });
  after(async () => {
    await service.stop();
    await access.close();
    await Promise.all([receiver.stop(), mailServer.stop(), database.drop()]);
    await nats.cleanUp();
  });

  const ask = (method: string, path: string, key: Key, body?: unknown): Promise<Response> =>
    fetch(`${service.url}${path}`, {
      method,
      headers: { ...key, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const ended = async (key: Key, request: object): Promise<string> => {
    const { jobId } = (await (await ask("POST", "/api/jobs", key, request)).json()) as { readonly jobId: string };
    await eventually(async () => {
      const { status } = (await (await ask("GET", `/api/jobs/${jobId}`, key)).json()) as { readonly status: string };
      expect(status).to.be.oneOf(["completed", "failed"]);
    }, 20_000);
    return jobId;
  };
  const mailingOfShop = { subject: "Of the shop", body: "text", recipients: ["eve@shop-mail.example"] };
  const expectNothingOfAcme = (text: string): void => {
    expect(text).not.to.match(/acme/i);
  };

  it("hear of their own jobs alone on a feed that is open, whatever the others do meanwhile", async () => {
    const stream = await openStream(`${service.url}/api/events`, shop);
    expect(stream.status).to.equal(200);
    await ask("POST", "/api/suppressions", acme, { email: suppressed });
    const webhookUrl = `${receiver.url}/of-acme`;
    const theirs = await ended(acme, { ...ofAcme, recipients: [...recipients, suppressed], webhookUrl });
    const own = await ended(shop, mailingOfShop);
    const heard = await readUntil(stream, (read) => read.at(-1)?.event === "JobCompleted");
    expect(new Set(heard.map(({ data }) => data.tenant))).to.deep.equal(new Set(["shop"]));
    expect(new Set(heard.map(({ data }) => data.jobId))).to.deep.equal(new Set([own]));
    expectNothingOfAcme(JSON.stringify(heard));
    expect(JSON.stringify(heard)).not.to.include(theirs);
  });

  it("read their own events alone in lines of JSON, from the beginning", async () => {
    const going = new AbortController();
    const headers = { ...shop, Accept: "application/x-ndjson" };
    const response = await fetch(`${service.url}/api/events?wait=0`, { headers, signal: going.signal });
    const lines: Line[] = [];
    for await (const line of piecesOf(response, "\n", going.signal)) if (line !== "") lines.push(JSON.parse(line));
    expect(new Set(lines.map(({ tenant }) => tenant))).to.deep.equal(new Set(["shop"]));
    expectNothingOfAcme(JSON.stringify(lines));
  });

  it("take away their own suppression list alone", async () => {
    const listOf = async (key: Key): Promise<string> =>
      await (await ask("GET", "/api/suppressions/export", key)).text();
    expectNothingOfAcme(await listOf(shop));
    expect(await listOf(acme))
      .to.include(suppressed)
      .and.to.include("refused@acme-mail.example");
  });

  it("are counted together by the metrics, which name none of them, no address and no job", async () => {
    await eventually(async () => {
      const text = await (await ask("GET", "/metrics", operator)).text();
      expect(text).to.match(/^waybill_messages_total\{outcome="suppressed",reason="manual"\} 1$/m);
      expect(text).to.match(/^waybill_webhook_deliveries_total\{outcome="delivered"\} 1$/m);
      expect(text).not.to.match(/acme|shop|@|tenant|[0-9a-f]{8}-[0-9a-f]{4}-|127\.0\.0\.1/i);
    });
  });

  it("are never on one line of the log, and no line has an address, a subject or a key", async () => {
    await ask("GET", "/api/jobs?q=Secret+of+Acme", shop);
    await ask("GET", `/api/suppressions?email=${encodeURIComponent(suppressed)}`, shop);
    const jobs = logged.filter((line) => "jobId" in line);
    expect(new Set(jobs.map(({ tenant }) => tenant))).to.deep.equal(new Set(["acme", "shop"]));
    const tenantOf = new Map(jobs.map(({ jobId, tenant }) => [jobId, tenant]));
    for (const line of jobs) expect(line["tenant"], JSON.stringify(line)).to.equal(tenantOf.get(line["jobId"]));
    const keys = [acme, shop, operator].map(({ Authorization = "" }) => Authorization.split("_").at(-1) ?? "");
    for (const line of logged) {
      const text = JSON.stringify(line);
      expect(/acme/i.test(text) && /shop/i.test(text), text).to.equal(false);
      expect(text).not.to.match(/-mail\.example|@[a-z]|Secret of|Of the shop|of-acme/i);
      for (const key of keys) expect(text).not.to.include(key);
    }
  });
});
