import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { pino } from "pino";
import { handleCommand } from "../../src/commands/handle-command.ts";
import { newJob } from "../../src/commands/read-version.ts";
import { digestOf, encodeContent } from "../../src/content/encode-content.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import { createDatabase } from "../../src/database/database.ts";
import { createJetStreamEventLog } from "../../src/event-log/jetstream-event-log.ts";
import { connectJetStream } from "../../src/nats/connection.ts";
import { type Service, startService } from "../../src/roles/wiring.ts";
import { type CompleteConfig, readConfig } from "../../src/settings/config.ts";
import { eventually } from "../support/eventually.ts";
import { settings } from "../support/examples.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { readOutboxRow } from "../support/outbox-side.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { mailing } from "../support/running-api.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { settingsFor } from "../support/waybill.ts";
import { exampleContent } from "../support/write-side.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

type Line = Readonly<Record<string, unknown>>;
type LoggedEvent = { readonly type: string; readonly actor: string; readonly traceparent?: string };

describe("One trace", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let receiver: Receiver;
  let services: Service[] = [];
  const lines = new Map<string, Line[]>();

  /** Each role with settings, connections and a log of its own, as in a process of its own. */
  const start = async (role: string): Promise<Service> => {
    const surroundings = { nats, mysqlUrl: database.url, smtpUrl: mailServer.url };
    const env = { ...settingsFor(surroundings), ROLES: role, WEBHOOK_ALLOW: "127.0.0.0/8" };
    const logged: Line[] = [];
    lines.set(role, logged);
    const logger = pino({ level: "debug" }, { write: (line: string) => logged.push(JSON.parse(line)) });
    return startService(readConfig(env) as CompleteConfig, logger, null);
  };
  const linesAbout = (role: string, jobId: string): readonly Line[] =>
    (lines.get(role) ?? []).filter((line) => line["jobId"] === jobId);
  const post = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const response = await eventually(async () => {
      const answer = await fetch(services[0]?.url + path, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
      expect(answer.status).to.be.oneOf([200, 201]);
      return answer;
    });
    return (await response.json()) as { readonly jobId: string };
  };
  const eventsOf = async (jobId: string): Promise<readonly LoggedEvent[]> => {
    const response = await fetch(`${services[0]?.url}/api/jobs/${jobId}/events`);
    return (await response.json()) as LoggedEvent[];
  };

  /** Whatever a process says of the job, it says which trace that was. */
  const expectTraced = (jobId: string, trace: string): void => {
    for (const role of lines.keys()) {
      for (const line of linesAbout(role, jobId)) expect(line, role).to.include({ traceId: trace });
    }
  };
  /** As nothing makes it that checks what it is asked for: no worker can do it. */
  const createBrokenJob = async (): Promise<string> => {
    const connection = await connectJetStream(nats.config, "test", () => {});
    const bytes = encodeContent({ ...exampleContent, recipients: [{ email: receiver.url }] });
    const job = { tenant: "default", jobId: randomUUID() };
    await (await createJetStreamContentStore(connection, nats.prefix)).put(job, bytes);
    const log = await createJetStreamEventLog(connection, nats.prefix);
    const asked = { ...settings, type: "webhook.deliver", total: 1, contentSha256: digestOf(bytes) } as const;
    const cause = { actor: "anonymous", correlationId: "order-18", causationId: null, traceparent };
    const command = { type: "CreateJob", at: new Date().toISOString(), settings: asked } as const;
    await handleCommand(log, job, command, cause, { from: newJob });
    await connection.close();
    return job.jobId;
  };

  before(async () => {
    [nats, database, mailServer, receiver] = await Promise.all([
      startNats(),
      freshDatabase(),
      startMailServer(),
      startReceiver(),
    ]);
    services = [];
    for (const role of ["api", "projector", "scheduler", "worker", "webhooks", "outbox"])
      services.push(await start(role));
  });
  after(async () => {
    for (const { stop } of services.reverse()) await stop();
    await Promise.all([receiver.stop(), mailServer.stop(), database.drop()]);
    await nats.cleanUp();
  });

  it("leads from the request over every event and log line to the call of the webhook", async () => {
    const headers = { traceparent, "X-Request-Id": "order-17" };
    const { jobId } = await post("/api/jobs", { ...mailing, webhookUrl: receiver.url }, headers);
    await eventually(() => expect(receiver.received).to.have.lengthOf(1), 20_000);
    expect(receiver.received[0]?.headers["traceparent"]).to.equal(traceparent);

    const events = await eventually(async () => {
      const found = await eventsOf(jobId);
      expect(found.at(-1)?.type).to.equal("WebhookDelivered");
      return found;
    });
    expect(new Set(events.map(({ actor }) => actor.split(":")[0]))).to.deep.equal(
      new Set(["anonymous", "worker", "webhooks"]),
    );
    for (const event of events) expect(event, event.type).to.include({ traceparent });

    const [request] = (lines.get("api") ?? []).filter((line) => line["requestId"] === "order-17");
    expect(request).to.include({ msg: "request", traceId, path: "/api/jobs", made: `/api/jobs/${jobId}` });
    const steps = (role: string) =>
      linesAbout(role, jobId).map(({ event, traceId: id, requestId }) => [event, id, requestId]);
    // A role says what it did once the log has answered it.
    await eventually(() => {
      expect(steps("worker")).to.deep.equal([
        ["JobStarted", traceId, "order-17"],
        ["JobCompleted", traceId, "order-17"],
      ]);
      expect(steps("webhooks")).to.deep.equal([["WebhookDelivered", traceId, "order-17"]]);
    });
    expectTraced(jobId, traceId);
  });

  it("is in the log line of a turn that failed", async () => {
    const jobId = await createBrokenJob();
    await eventually(() => {
      const said = linesAbout("worker", jobId).find(({ msg }) => msg === "turn failed; retrying");
      expect(said).to.include({ tenant: "default", requestId: "order-18", traceId });
    }, 20_000);
    expectTraced(jobId, traceId);
  });

  it("begins with the row of the outbox, whose id it has, where an application wrote the job into it", async () => {
    const id = randomUUID();
    const db = createDatabase(database.url);
    await db("outbox").insert({ id, request: JSON.stringify({ ...mailing, webhookUrl: receiver.url }) });
    const jobId = await eventually(async () => {
      const row = await readOutboxRow(db, id);
      expect(row.status).to.equal("processed");
      return String(row.response.jobId);
    }, 20_000);
    await db.destroy();
    await eventually(async () => expect((await eventsOf(jobId)).at(-1)?.type).to.equal("WebhookDelivered"), 20_000);
    const ofRow = id.replaceAll("-", "");
    for (const event of await eventsOf(jobId)) expect(event.traceparent, event.type).to.include(`00-${ofRow}-`);
    for (const role of ["worker", "webhooks"]) {
      await eventually(() => expect(linesAbout(role, jobId), role).not.to.be.empty);
    }
    expectTraced(jobId, ofRow);
  });

  it("goes on through a wait in the database", async () => {
    const scheduledAt = new Date(Date.now() + 500).toISOString();
    const { jobId } = await post("/api/jobs", { ...mailing, scheduledAt }, { traceparent });
    await eventually(async () => expect((await eventsOf(jobId)).at(-1)?.type).to.equal("JobCompleted"), 20_000);
    for (const event of await eventsOf(jobId)) expect(event, event.type).to.include({ traceparent });
  });

  it("begins with the request that has none, or one that cannot be read", async () => {
    const [one, other] = [
      await post("/api/jobs", mailing),
      await post("/api/jobs", mailing, { traceparent: "00-abc" }),
    ];
    const traces = new Set<string | undefined>();
    for (const { jobId } of [one, other]) {
      const events = await eventually(async () => {
        const found = await eventsOf(jobId);
        expect(found.at(-1)?.type).to.equal("JobCompleted");
        return found;
      }, 20_000);
      const [first] = events;
      expect(first?.traceparent).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
      for (const event of events) expect(event.traceparent, event.type).to.equal(first?.traceparent);
      traces.add(first?.traceparent);
    }
    expect(traces.size).to.equal(2);
  });
});
