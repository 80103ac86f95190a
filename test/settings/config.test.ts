import { expect } from "chai";
import { InvalidConfig, readConfig } from "../../src/settings/config.ts";

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
    expect(config).to.include({ workerConcurrency: 20, smtpMaxConnections: 10, maxAttempts: 4 });
    expect([...config.roles]).to.deep.equal([
      "api",
      "scheduler",
      "worker",
      "projector",
      "webhooks",
      "outbox",
      "bounces",
    ]);
  });

  it("take the empty string for nothing", () => {
    expect(readConfig({ PORT: "", MYSQL_URL: " ", WORKER_CONCURRENCY: "" })).to.include({
      port: 3000,
      mysqlUrl: null,
      workerConcurrency: 20,
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

  it("open the API without a key only on a loopback address", () => {
    expect(readConfig({ AUTH: "off" })).to.include({ auth: "off", rateLimit: null });
    expect(faultsOf({ AUTH: "off", HOST: "0.0.0.0" })).to.include(
      'AUTH is "off"; expected auto or required, as others can reach HOST "0.0.0.0"',
    );
  });

  it("name a mail server where alerts or seals are mailed by a process without a mailbox", () => {
    const mailed = { ROLES: "webhooks,scheduler", ALERT_MAIL_TO: "ops@example.com" };
    expect(faultsOf(mailed)).to.include('ALERT_MAIL_TO is "ops@example.com"; expected SMTP_URL beside it');
    expect(faultsOf({ ...mailed, SMTP_URL: "smtp://mail.example.com" })).to.equal("");
    expect(faultsOf({ ...mailed, ROLES: "scheduler" })).to.equal("");
    expect(faultsOf({ SEAL_MAIL_TO: "audit@example.com", ROLES: "scheduler" })).to.include("SEAL_MAIL_TO is ");
    expect(faultsOf({ ALERT_MAIL_TO: "ops@example.com" })).to.equal("");
  });

  it("are refused without giving a password away", () => {
    const faults = faultsOf({ MYSQL_URL: "postgres://waybill:s3cret@db/waybill" });
    expect(faults).to.include("postgres://waybill:***@db/waybill").and.not.include("s3cret");
    for (const [given, shown] of [
      ["waybill:s3cret@db/waybill", "waybill:***@db/waybill"],
      ["mysql:waybill:s3@cret@db/waybill", "mysql:***@db/waybill"],
      ["mysql:/waybill:s3cret@db/waybill", "mysql:***@db/waybill"],
    ] as const) {
      expect(faultsOf({ MYSQL_URL: given })).to.include(`MYSQL_URL is "${shown}"; expected mysql://`);
    }
  });

  it("name the service of commands without a password, which no request would carry", () => {
    const faults = faultsOf({ WAYBILL_URL: "https://ada:s3cret@waybill.example.org" });
    expect(faults).to.include('WAYBILL_URL is "https://ada:***@waybill.example.org"; expected http://host:port');
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
      thresholds: {
        "failure-rate": 0.05,
        "bounce-rate": 0.05,
        "complaint-rate": 0.003,
        "oldest-waiting": 300,
        "dead-letters": 10,
        "open-dead-letters": 25,
        "stopped-mailings": 0,
        "projection-lag": 60,
      },
      windowSeconds: 3600,
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

  it("are no lists with a comma too many, or with the same twice", () => {
    for (const [name, value, said] of [
      // It was read as 60000 and 0, so that every recipient was mailed again without a pause.
      ["RETRY_DELAYS", "60000,", "item 2 of 2 is empty"],
      ["RETRY_DELAYS", "60000,,300000", "item 2 of 3 is empty"],
      ["RETRY_DELAYS", ",", "item 1 of 2 is empty"],
      ["RETRY_DELAYS", "60000,-5", "item 2 of 2 is not"],
      ["RETRY_DELAYS", "1e3", "item 1 of 1 is not"],
      ["RETRY_DELAYS", "60 000", "item 1 of 1 is not"],
      ["RETRY_DELAYS", "99999999999", "item 1 of 1 is not"],
      ["ROLES", "worker,", "item 2 of 2 is empty"],
      ["ROLES", "worker,worker", "item 2 of 2 was there before"],
      ["ROLES", "worker,cook", "item 2 of 2 is not"],
      ["NATS_URL", "nats://a:4222,", "item 2 of 2 is empty"],
      ["NATS_URL", "nats://a:4222,nats://a:4222", "item 2 of 2 was there before"],
      ["WEBHOOK_ALLOW", "127.0.0.0/8,", "item 2 of 2 is empty"],
      ["ALERT_MAIL_TO", ",ops@example.com", "item 1 of 2 is empty"],
      ["ALERT_MAIL_TO", "ops@example.com,ops@example.com", "item 2 of 2 was there before"],
    ] as const) {
      expect(faultsOf({ [name]: value }), `${name}=${value}`).to.match(
        new RegExp(`^ {2}${name} is ${JSON.stringify(value)}; expected .*; ${said}$`, "m"),
      );
    }
    expect(readConfig({ RETRY_DELAYS: "60000, 60000,0" }).retry.delaysMs).to.deep.equal([60_000, 60_000, 0]);
  });

  it("are numbers as people write them, and nothing that a program makes a number of", () => {
    for (const value of ["1e3", "+5", "-5", "0x10", "1_000", "5 0", "5.0", "Infinity", "NaN"]) {
      expect(faultsOf({ WORKER_CONCURRENCY: value }), value).to.include("expected a whole number from 1 to 1000");
    }
    for (const value of ["1e1", "+2", "-2", "0x2", "2,5", "2.", "Infinity"]) {
      expect(faultsOf({ RETRY_FACTOR: value }), value).to.include("expected a number from 1 to 100");
    }
    expect(readConfig({ RETRY_FACTOR: "2.5", RETRY_JITTER: ".25", PORT: " 8080 " })).to.deep.include({ port: 8080 });
  });

  it("have every address checked, all at once, and give no secret away", () => {
    const faults = faultsOf({
      NATS_URL: "nats://waybill:s3cret@a:4222, http://b:4222",
      MYSQL_URL: "mysql://waybill:s3cr%t@db",
      SMTP_URL: "smtp://",
      WAYBILL_URL: "ftp://s3cret@host/",
      SEAL_WEBHOOK: "s3://bucket/?token=s3cret",
      PUBLIC_URL: "http://example.com/?key=s3cret",
      ALERT_WEBHOOK: "http://a/s3cret",
    });
    expect(faults.split("\n")).to.have.lengthOf(8);
    expect(faults).to.include('NATS_URL is "nats://waybill:***@a:4222, http://b:4222"; expected nats://host:port');
    expect(faults).not.to.match(/s3cr/);
    expect(faultsOf({ MYSQL_URL: "mysql://db:3306" })).to.include("the database is missing");
  });

  it("name servers of NATS as the client takes them", () => {
    for (const good of [
      "a",
      "a:4222",
      "nats://a",
      "tls://a:4222/",
      "[::1]:4222",
      "nats://[::1]:4222",
      "127.0.0.1:80",
    ]) {
      expect(readConfig({ NATS_URL: good }).nats?.servers, good).to.deep.equal([good]);
    }
    for (const bad of ["http://a", "nats://", "a:port", "a:70000", "nats://token@a", "a b", "nats://a/x", "a:0"]) {
      expect(faultsOf({ NATS_URL: bad }), bad).to.match(/^ {2}NATS_URL is /m);
    }
  });
});
