import { expect } from "chai";
import { openAccess, type TestAccess } from "../support/access.ts";
import { eventually } from "../support/eventually.ts";
import { bearer, storedKey } from "../support/keys.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { startNats, startOwnMysql, type TestMysql, type TestNats } from "../support/services.ts";
import { type Surroundings, startWaybill, type Waybill } from "../support/waybill.ts";

const env = {
  AUTH: "required",
  HEALTH_PORT: "0",
  WEBHOOK_ALLOW: "127.0.0.0/8",
  ALERT_MAIL_TO: "ops@example.com",
  ALERT_INTERVAL: "200",
  ALERT_QUIET: "0",
  ALERT_LEAST_MAILS: "2",
  ALERT_DEAD_LETTERS: "off",
  ALERT_PROJECTION_LAG: "5000",
};

type Told = { readonly type: string; readonly data: { readonly alert: string; readonly value: number | null } };
type Feed = { readonly data: readonly { readonly type: string; readonly jobId: string; readonly tenant: string }[] };

describe("An operator", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let mysql: TestMysql;
  let mailServer: TestMailServer;
  let receiver: Receiver;
  let access: TestAccess;
  let waybills: readonly Waybill[];
  let operator: Record<string, string>;
  let tenant: Record<string, string>;

  before(async () => {
    [nats, mysql, mailServer, receiver] = await Promise.all([
      startNats(),
      startOwnMysql(),
      startMailServer(),
      startReceiver(),
    ]);
    const surroundings: Surroundings = { nats, mysqlUrl: (await mysql.freshDatabase()).url, smtpUrl: mailServer.url };
    const settings = { ...env, ALERT_WEBHOOK: `${receiver.url}/alerts` };
    // Two that play every role: each looks, one tells.
    waybills = [await startWaybill(surroundings, settings), await startWaybill(surroundings, settings)];
    access = await openAccess(nats);
    operator = bearer((await storedKey(access.store, { tenant: "ops", scopes: ["admin"] })).text);
    tenant = bearer((await storedKey(access.store, { tenant: "acme" })).text);
  });
  after(async () => {
    for (const { stop } of waybills) await stop();
    await access.close();
    await Promise.all([receiver.stop(), mailServer.stop()]);
    await mysql.cleanUp();
    await nats.cleanUp();
  });

  const ask = (path: string, headers: Record<string, string>, body?: object): Promise<Response> =>
    fetch(`${waybills[0]?.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const feed = async (path: string, headers: Record<string, string>): Promise<Feed["data"]> => {
    const response = await ask(path, headers);
    expect(response.status).to.equal(200);
    return ((await response.json()) as Feed).data;
  };
  const told = (alert: string): readonly Told[] =>
    receiver.received.map(({ text }) => JSON.parse(text) as Told).filter(({ data }) => data.alert === alert);
  const typesOf = (messages: readonly Told[]) => messages.map(({ type }) => type);
  const metrics = async (): Promise<string> => (await fetch(`${waybills[1]?.healthUrl}/metrics`)).text();

  it("is told when mails fail, by webhook and by mail, once, and sees it in a feed that no tenant sees", async () => {
    const refused = ["one@example.com", "two@example.com", "three@example.com"];
    for (const address of refused) mailServer.answerRecipient(address, { code: 550, text: "5.1.1 no such user" });
    await eventually(async () => {
      const mailing = { subject: "Your invoice", body: "text", recipients: [...refused, "ada@example.com"] };
      expect((await ask("/api/jobs", tenant, mailing)).status).to.equal(201);
    });
    await eventually(() => expect(typesOf(told("failure-rate"))).to.deep.equal(["alert.raised"]));
    const mail = await eventually(() => {
      const found = mailServer.mails.filter(({ to }) => to.includes("ops@example.com"));
      expect(found).to.have.lengthOf(1);
      return found[0]?.raw.toString();
    });
    expect(mail)
      .to.include("Subject: [Waybill] raised: Mails fail")
      .and.to.match(/^\d+ % of mails failed in the last hour; the limit is 5 %\.\r$/m);

    expect((await feed("/api/admin/events", operator)).map(({ type }) => type)).to.include("AlertRaised");
    const ofTenant = await feed("/api/events", tenant);
    expect(ofTenant.map(({ type }) => type))
      .to.include("RecipientSent")
      .and.not.include("AlertRaised");
    expect((await ask("/api/admin/events", tenant)).status).to.equal(403);
    expect((await ask("/api/events", operator)).status).to.equal(403);
    await eventually(async () => {
      const page = await metrics();
      expect(page).to.match(/^waybill_alert_active\{alert="failure-rate"\} 1$/m);
      expect(page).to.match(/^waybill_alert_active\{alert="oldest-waiting"\} 0$/m);
      expect(page).to.match(/^waybill_projection_lag_events\{projection="jobs"\} 0$/m);
    });
  });

  it("is told when the database is away, and when it is back", async () => {
    receiver.answers((response) => void response.writeHead(204).end());
    // On a busy machine the projections may have been behind before.
    await eventually(() => expect(typesOf(told("projection-lag")).at(-1)).not.to.equal("alert.raised"));
    const before = told("projection-lag").length;
    await mysql.stop();
    const since = () => told("projection-lag").slice(before);
    await eventually(() => expect(typesOf(since())).to.deep.equal(["alert.raised"]));
    expect(since()[0]?.data.value).to.equal(null);
    await mysql.start();
    await eventually(() => expect(typesOf(since()).slice(0, 2)).to.deep.equal(["alert.raised", "alert.cleared"]));
    expect(typesOf(told("failure-rate"))).to.deep.equal(["alert.raised"]);
  });
});
