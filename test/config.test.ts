import { expect } from "chai";
import { InvalidConfig, readConfig } from "../src/config.ts";

const faultsOf = (env: Record<string, string>): string => {
  try {
    readConfig(env);
  } catch (failure) {
    if (failure instanceof InvalidConfig) return failure.message;
    throw failure;
  }
  return "";
};

describe("the settings", () => {
  it("need none: every server is then one of Waybill's own", () => {
    const config = readConfig({});
    expect(config).to.include({ host: "127.0.0.1", port: 3000, nats: null, mysqlUrl: null, smtpUrl: null });
    expect(config).to.include({ workerConcurrency: 5, smtpMaxConnections: 10, maxAttempts: 4, smtpTimeoutMs: 20_000 });
    expect([...config.roles]).to.deep.equal(["api", "scheduler", "worker", "projector", "webhooks", "outbox"]);
  });

  it("take the empty string for nothing", () => {
    expect(readConfig({ PORT: "", MYSQL_URL: " ", WORKER_CONCURRENCY: "" })).to.include({
      port: 3000,
      mysqlUrl: null,
      workerConcurrency: 5,
    });
  });

  it("are refused all at once, each with its value and what was expected", () => {
    const faults = faultsOf({
      PORT: "http",
      WORKER_CONCURRENCY: "five",
      SMTP_MAX_CONNECTIONS: "0",
      RETRY_FACTOR: "-1",
      RETRY_DELAYS: "60000,soon",
      LOG_LEVEL: "loud",
      ROLES: "api,cook",
      AUTO_MIGRATE: "perhaps",
      NATS_PREFIX: "a.b",
      AUTH: "maybe",
      RATE_LIMIT: "0",
    });
    expect(faults).to.include('WORKER_CONCURRENCY is "five"; expected a whole number from 1 to 1000');
    expect(faults).to.include('PORT is "http"; expected a whole number from 0 to 65535');
    expect(faults.split("\n")).to.have.lengthOf(12);
  });

  it("open the API to everybody only where nobody else can reach it", () => {
    expect(readConfig({ AUTH: "off" })).to.include({ auth: "off", rateLimit: null });
    expect(faultsOf({ AUTH: "off", HOST: "0.0.0.0" })).to.include(
      'AUTH is "off"; expected auto or required, as others can reach HOST "0.0.0.0"',
    );
  });

  it("are refused without giving a password away", () => {
    const faults = faultsOf({ MYSQL_URL: "postgres://waybill:s3cret@db/waybill" });
    expect(faults).to.include("postgres://waybill:***@db/waybill").and.not.include("s3cret");
  });

  it("sign webhooks and name the private networks that they may reach", () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const { webhooks } = readConfig({ WEBHOOK_SECRET: secret, WEBHOOK_ALLOW: "127.0.0.0/8, fd00::/8" });
    expect(webhooks.secret).to.equal(secret);
    expect(webhooks.allowed.map(String)).to.deep.equal(["127.0.0.0/8", "fd00::/8"]);
    expect(readConfig({}).webhooks).to.deep.equal({ secret: null, allowed: [] });
    const faulty = { WEBHOOK_SECRET: "whsec_hunter2", WEBHOOK_ALLOW: "127.0.0.1,10.0.0.0/33" };
    expect(() => readConfig(faulty)).to.throw(InvalidConfig, 'WEBHOOK_SECRET is "***"; expected whsec_ and the base64');
    expect(() => readConfig(faulty)).to.throw(
      InvalidConfig,
      'WEBHOOK_ALLOW is "127.0.0.1,10.0.0.0/33"; expected CIDRs',
    );
  });

  it("say from where on an operator is told, and how", () => {
    const { alerts } = readConfig({});
    expect(alerts).to.deep.include({ webhookUrl: null, mailTo: [], lookEveryMs: 15_000 });
    expect(alerts.limits).to.deep.equal({
      thresholds: { "failure-rate": 0.05, "oldest-waiting": 300, "dead-letters": 10, "projection-lag": 60 },
      windowSeconds: 900,
      leastMails: 100,
      quietSeconds: 300,
    });
    const set = readConfig({
      ALERT_MAIL_TO: "ops@example.com, on-call@example.com",
      ALERT_WEBHOOK: "https://alerts.example.com/hook?token=s3cret",
      ALERT_DEAD_LETTERS: "Off",
      ALERT_WINDOW: "90000",
    }).alerts;
    expect(set.mailTo).to.deep.equal(["ops@example.com", "on-call@example.com"]);
    expect(set.limits.thresholds["dead-letters"]).to.equal(null);
    expect(set.limits.windowSeconds).to.equal(120);
    const faults = faultsOf({
      ALERT_WEBHOOK: "http://10.0.0.1/?token=s3cret",
      ALERT_MAIL_TO: "ops@",
      ALERT_FAILURE_RATE: "5",
      ALERT_PROJECTION_LAG: "soon",
    });
    expect(faults.split("\n")).to.have.lengthOf(5);
    expect(faults).to.include('ALERT_FAILURE_RATE is "5"; expected a number from 0 to 1').and.not.include("s3cret");
  });

  it("name several NATS servers with commas, and some of the roles", () => {
    const config = readConfig({ NATS_URL: "nats://a:4222, nats://b:4222", ROLES: "worker, scheduler" });
    expect(config.nats?.servers).to.deep.equal(["nats://a:4222", "nats://b:4222"]);
    expect([...config.roles]).to.deep.equal(["scheduler", "worker"]);
  });
});
