import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { createDatabase } from "../../src/database/database.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { type OwnNats, startOwnMysql, startOwnNats, type TestMysql } from "../support/services.ts";
import { type Surroundings, startWaybill, type Waybill } from "../support/waybill.ts";
import { faultsOfMetrics } from "./faults-of-metrics.ts";

const root = new URL("../../", import.meta.url);

describe("what a service tells of itself", function () {
  this.timeout(120_000);

  let nats: OwnNats;
  let mysql: TestMysql;
  let mailServer: TestMailServer;
  let surroundings: Surroundings;
  let waybill: Waybill;
  let client: ApiClient;

  const page = async (path = "/metrics"): Promise<string> => {
    const response = await fetch(`${waybill.healthUrl}${path}`);
    return await response.text();
  };
  const readyz = async (of: Waybill) => {
    const response = await fetch(`${of.healthUrl}/readyz`);
    const { ready, dependencies } = (await response.json()) as Health;
    return { status: response.status, ready, dependencies };
  };

  before(async () => {
    [nats, mysql, mailServer] = await Promise.all([startOwnNats(), startOwnMysql(), startMailServer()]);
    surroundings = { nats, mysqlUrl: (await mysql.freshDatabase()).url, smtpUrl: mailServer.url };
    waybill = await startWaybill(surroundings, { HEALTH_PORT: "0" });
    client = createApiClient(waybill.url);
    const recipients = ["ada@example.com", "bob@example.com", "eve@example.com"];
    await client.ended(await client.create({ subject: "Your invoice", body: "text", recipients }));
    const scheduledAt = "2099-01-01T00:00:00.000Z";
    await client.create({ subject: "Later", body: "text", recipients: recipients.slice(1), scheduledAt });
    await client.get("/api/jobs/01a1fd35-533b-7271-b369-7d09773b23c9");
  });
  after(async () => {
    await waybill.stop();
    await mailServer.stop();
    await mysql.cleanUp();
    await nats.cleanUp();
  });

  it("counts what was decided, mailed, stored and answered", async () => {
    const { version } = JSON.parse(await readFile(new URL("package.json", root), "utf8"));
    const text = await eventually(async () => {
      const found = await page();
      expect(found).to.match(/^waybill_jobs\{state="completed"\} 1$/m);
      expect(found).to.match(/^waybill_jobs\{state="scheduled"\} 1$/m);
      expect(found).to.match(/^waybill_projection_lag_events\{projection="jobs"\} 0$/m);
      expect(found).to.match(/^waybill_consumer_pending\{consumer="scheduler"\} 0$/m);
      return found;
    });
    for (const line of [
      'waybill_jobs_total{event="created"} 2',
      'waybill_jobs_total{event="completed"} 1',
      'waybill_messages_total{outcome="sent",reason="none"} 3',
      'waybill_message_send_seconds_count{outcome="sent",route="default"} 3',
      'waybill_smtp_connections{state="busy",route="default"} 0',
      'waybill_smtp_breaker_state{route="default"} 0',
      'waybill_events_published_total{type="RecipientSent"} 3',
      'waybill_http_request_seconds_count{method="POST",route="/api/jobs",status_class="2xx"} 2',
      'waybill_http_request_seconds_count{method="GET",route="/api/jobs/:jobId",status_class="4xx"} 1',
      'waybill_jobs_waiting{priority="high"} 0',
      'waybill_oldest_pending_age_seconds{priority="normal"} 0',
      'waybill_projection_lag_events{projection="jobs"} 0',
      'waybill_message_wait_seconds_count{priority="normal"} 1',
      'waybill_job_duration_seconds_count{event="completed"} 1',
      'waybill_alert_active{alert="projection-lag"} 0',
      "waybill_sse_clients 0",
      "waybill_request_bodies_bytes 0",
      "waybill_request_bodies_refused_total 0",
      'waybill_dependency_up{dependency="nats"} 1',
      "waybill_nats_connected 1",
      'waybill_messages_pending{state="scheduled"} 2',
      'waybill_messages_pending{state="queued"} 0',
      'waybill_messages_pending{state="retry"} 0',
      'waybill_message_attempts_bucket{le="1",outcome="sent"} 3',
      `waybill_build_info{version="${version}",node="${process.versions.node}"} 1`,
    ]) {
      expect(text.split("\n")).to.include(line);
    }
    expect(text).to.match(/^waybill_log_bytes [1-9]/m);
    for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_start_time_seconds"]) {
      expect(text).to.match(new RegExp(`^${name} [0-9.e+]+$`, "m"));
    }
    expect(text).to.match(/^nodejs_eventloop_lag_p99_seconds /m);
  });

  it("keeps the rules of Prometheus for names, units and types, which promtool checks", async () => {
    expect(faultsOfMetrics(await page())).to.deep.equal([]);
    const wrong = ["# HELP a_ms A.", "# TYPE a_ms counter", "a_ms 1", "# TYPE b_total gauge", "b_total 1"].join("\n");
    expect(faultsOfMetrics(`${wrong}\n`)).to.have.length(4);
  });

  it("tells how many rows of the outbox wait, and for how long", async () => {
    const writtenAt = new Date(Date.now() - 600_000);
    const waits = { next_retry_at: new Date(Date.now() + 3_600_000), created_at: writtenAt };
    const rows = ["pending", "pending", "failed"].map((status) => ({
      id: randomUUID(),
      request: "{}",
      status,
      ...waits,
    }));
    const db = createDatabase(surroundings.mysqlUrl);
    await db("outbox").insert(rows);
    const text = await page();
    await db("outbox").delete();
    await db.destroy();
    expect(text).to.match(/^waybill_outbox_pending_rows 2$/m);
    const [, seconds] = /^waybill_outbox_oldest_pending_age_seconds (\S+)$/m.exec(text) ?? [];
    expect(Number(seconds)).to.be.within(600, 660);
    expect((await page()).split("\n")).to.include.members([
      "waybill_outbox_pending_rows 0",
      "waybill_outbox_oldest_pending_age_seconds 0",
    ]);
  });

  it("has no tenant, job or address in it", async () => {
    const text = await page();
    expect(text.replaceAll('route="default"', "")).not.to.match(/@|tenant|default|[0-9a-f]{8}-[0-9a-f]{4}-/);
  });

  it("has every metric that the dashboard and the alerts ask for", async () => {
    const text = await page();
    const measured = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    for (const file of ["ops/grafana/dashboards/waybill.json", "ops/prometheus/alerts.yml"]) {
      const asked = [
        ...(await readFile(new URL(file, root), "utf8")).matchAll(/\b(?:waybill|process|nodejs)_\w+/g),
      ].map(([name]) => name);
      expect(asked, file).not.to.be.empty;
      const unknown = asked.filter(
        (name) => !measured.has(name) && !measured.has(name.replace(/_(bucket|count)$/, "")),
      );
      expect(unknown, file).to.deep.equal([]);
    }
  });

  it("has the counters whose increase raises an alert before anything is counted: one that appears shows none", async () => {
    const text = await page();
    const rules = await readFile(new URL("ops/prometheus/alerts.yml", root), "utf8");
    const watched = [...rules.matchAll(/increase\((\w+)\{(.+?)\}/g)].map(([, name, label]) => ({ name, label }));
    expect(watched).to.have.length(2);
    for (const { name, label } of [...watched, { name: "waybill_publish_failures_total", label: 'reason="full"' }]) {
      expect(text).to.match(new RegExp(`^${name}\\{(.+,)?${label}\\} 0$`, "m"));
    }
  });

  it("is answered on the API too, and nothing of the API beside it", async () => {
    const response = await fetch(`${waybill.url}/metrics`);
    expect(response.status).to.equal(200);
    expect(response.headers.get("Content-Type")).to.match(/^text\/plain; version=0\.0\.4/);
    expect((await fetch(`${waybill.healthUrl}/api/jobs`)).status).to.equal(404);
  });

  it("shows which durability the log has, as far as a client can know", async () => {
    const { status, dependencies } = await readyz(waybill);
    expect(status).to.equal(200);
    expect(dependencies["nats"]).to.include({ status: "up", acceptsJobs: true });
    expect(dependencies["nats"]?.["durability"]).to.match(/^flushed every 2 minutes$|^unknown: /);
    expect(dependencies["mail"]).to.deep.equal({ status: "up", needed: false, breaker: "closed" });
  });

  it("shows a mail server that is down: a process that only sends is then not ready", async () => {
    const worker = await startWaybill(surroundings, { HEALTH_PORT: "0", ROLES: "worker" });
    await mailServer.stop();
    const recipients = Array.from({ length: 20 }, (_, index) => `${index}@example.com`);
    const create = () => client.create({ subject: "later", body: "text", recipients, retryDelay: 100 });
    await Promise.all([create(), create(), create(), create()]);
    await eventually(async () => {
      expect((await readyz(worker)).dependencies["mail"]).to.deep.equal({
        status: "down",
        needed: true,
        breaker: "open",
      });
    }, 20_000);
    expect((await readyz(worker)).status).to.equal(503);
    await worker.stop();
  });

  it("shows it as well in a worker that was started since, and gives it no mail: the alert goes on", async () => {
    // Of fewer it would try one after the other.
    const job = { subject: "later", body: "text", recipients: ["ada@example.com"], retryDelay: 100 };
    await Promise.all(Array.from({ length: 8 }, () => client.create(job)));
    const worker = await startWaybill(surroundings, { HEALTH_PORT: "0", ROLES: "worker" });
    const stateOf = async (): Promise<string | undefined> => {
      const text = await (await fetch(`${worker.healthUrl}/metrics`)).text();
      return /^waybill_smtp_breaker_state\{route="default"\} (.+)$/m.exec(text)?.[1];
    };
    await eventually(async () => expect(await stateOf()).to.equal("1"));
    await mailServer.start();
    await eventually(async () => expect(await stateOf()).to.equal("0"), 60_000);
    await worker.stop();
  });

  it("leaves out what the database knows while it is away, and still answers", async () => {
    await mysql.stop();
    const text = await page();
    expect(text).not.to.match(/^waybill_jobs\{/m);
    expect(text).to.match(/^waybill_log_bytes [1-9]/m);
    expect(text).to.match(/^waybill_dependency_up\{dependency="mysql"\} 0$/m);
    expect(await readyz(waybill)).to.include({ status: 200, ready: true });
    await mysql.start();
  });

  it("shows a database that is frozen as one that is away", async () => {
    mysql.suspend();
    const text = await page();
    await mysql.resume();
    expect(text).to.match(/^waybill_dependency_up\{dependency="mysql"\} 0$/m);
    expect(text).to.match(/^waybill_dependency_up\{dependency="nats"\} 1$/m);
  });

  it("is not ready while NATS is away", async () => {
    await nats.stop();
    const { status, dependencies } = await readyz(waybill);
    expect(status).to.equal(503);
    expect(dependencies["nats"]).to.deep.equal({ status: "down", needed: true });
    expect(await page()).to.match(/^waybill_dependency_up\{dependency="nats"\} 0$/m);
    await nats.start();
    await eventually(async () => expect((await readyz(waybill)).status).to.equal(200), 20_000);
  });
});

type Health = {
  readonly ready: boolean;
  readonly dependencies: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};
