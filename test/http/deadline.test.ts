import { expect } from "chai";
import { createJetStreamQuota } from "../../src/access/jetstream-quota.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import { createJetStreamEventLog } from "../../src/event-log/jetstream-event-log.ts";
import { createJetStreamLogRoom } from "../../src/event-log/jetstream-log-room.ts";
import { ensureStreams } from "../../src/event-log/jetstream-streams.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import { inClear } from "../../src/secrets/sealing.ts";
import { createJetStreamSuppressionStore } from "../../src/suppressions/jetstream-suppression-store.ts";
import { createSuppressionList } from "../../src/suppressions/suppression-list.ts";
import { createJetStreamWebhookStore } from "../../src/webhooks/jetstream-webhook-store.ts";
import { eventually } from "../support/eventually.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { hindranceDuring } from "../support/unhindered.ts";

describe("A request while NATS does not answer", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let proxy: TcpProxy;
  let connection: JetStreamConnection;
  let api: RunningApi;
  let jobId: string;

  before(async () => {
    nats = await startNats();
    const [host = "", port = ""] = nats.config.servers[0]?.split(":") ?? [];
    proxy = await startTcpProxy({ host, port: Number(port) });
    const { prefix } = nats;
    connection = await connectJetStream({ ...nats.config, servers: [`127.0.0.1:${proxy.port}`] }, "test", () => {});
    await ensureStreams(connection, { prefix, replicas: 1, maxBytes: null });
    const bucket = { prefix, replicas: 1 };
    const store = await createJetStreamWebhookStore(connection, bucket, inClear("WEBHOOKS"));
    api = await startApi({
      log: await createJetStreamEventLog(connection, prefix),
      contentStore: await createJetStreamContentStore(connection, prefix),
      room: await createJetStreamLogRoom(connection, prefix),
      quota: createJetStreamQuota(connection, bucket),
      suppressions: createSuppressionList(createJetStreamSuppressionStore(connection, prefix)),
      webhooks: {
        store,
        deliveries: {
          list: async () => ({ deliveries: [], nextCursor: null, readSequence: 0 }),
          find: async () => null,
        },
        post: async () => ({ kind: "answered", statusCode: 204, retryAfterMs: null }),
        allowed: [],
      },
    });
    jobId = (await api.ask("POST", "/api/jobs", { body: mailing })).body.jobId;
    // What is opened at its first use is open.
    await api.ask("POST", "/api/suppressions", { body: { email: "bob@example.com" } });
  });
  after(async () => {
    await api.close();
    await connection.close();
    await proxy.stop();
    await nats.cleanUp();
  });
  afterEach(async () => {
    await proxy.restore();
    await eventually(async () => expect((await api.ask("GET", `/api/jobs/${jobId}`)).status).to.equal(200), 20_000);
  });

  const requests = (): readonly (readonly [string, string, object?])[] => [
    ["POST", "/api/jobs", mailing],
    ["POST", `/api/jobs/${jobId}/pause`, {}],
    ["PATCH", `/api/jobs/${jobId}`, { priority: "low" }],
    ["POST", `/api/dead-letters/${jobId}.1/requeue`, {}],
    ["POST", `/api/dead-letters/${jobId}.1/ignore`, { reason: "none" }],
    ["DELETE", `/api/jobs/${jobId}/content`, {}],
    ["GET", `/api/jobs/${jobId}`],
    ["POST", "/api/suppressions", { email: "carol@example.com" }],
    ["DELETE", "/api/suppressions/dora@example.com"],
    ["POST", "/api/webhook-endpoints", { url: "https://shop.example/hook" }],
    ["POST", `/api/notifications/${jobId}.1/read`, {}],
  ];
  /** With how late this process was meanwhile: a busy machine is not what is looked at here. */
  const askAll = async () => {
    let answers: Awaited<ReturnType<typeof askEach>> = [];
    const lateMs = await hindranceDuring(async () => {
      answers = await askEach();
    });
    return { answers, lateMs };
  };
  const askEach = async () =>
    await Promise.all(
      requests().map(async ([method, path, body]) => {
        const askedAt = performance.now();
        const headers: Record<string, string> = path === "/api/jobs" ? { "Idempotency-Key": `key-${askedAt}` } : {};
        // Not by `ask`, which compares answers with the document of the API: that takes time of its own.
        const { status } = await fetch(api.url + path, {
          method,
          headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return { method, path, status, ms: Math.round(performance.now() - askedAt) };
      }),
    );
  const slowOnes = ({ answers, lateMs }: Awaited<ReturnType<typeof askAll>>) =>
    answers.filter(({ ms }) => ms - lateMs > 2000);

  it("is refused within two seconds where each of its steps is slow", async () => {
    proxy.slowDown({ latencyMs: 600, bytesPerSecond: 10_000_000 });
    const asked = await askAll();
    expect(slowOnes(asked)).to.deep.equal([]);
    expect(asked.answers[0]).to.include({ path: "/api/jobs", status: 503 });
  });

  it("is refused within two seconds where nothing is answered at all", async () => {
    proxy.stall();
    const asked = await askAll();
    expect(slowOnes(asked)).to.deep.equal([]);
    expect(asked.answers.map(({ status }) => status)).to.deep.equal(asked.answers.map(() => 503));
  });

  it("asks for nothing more once it was refused: an append does not follow a content that came too late", async () => {
    const before = (await api.log.state()).lastSequence;
    proxy.slowDown({ latencyMs: 600, bytesPerSecond: 10_000_000 });
    const refused = await api.ask("POST", "/api/jobs", { body: mailing, headers: { "Idempotency-Key": "too-late" } });
    expect(refused.status).to.equal(503);
    await proxy.restore();
    const again = await api.ask("POST", "/api/jobs", { body: mailing, headers: { "Idempotency-Key": "too-late" } });
    expect([again.status, again.headers.get("Idempotency-Replayed")]).to.deep.equal([201, null]);
    expect((await api.log.state()).lastSequence).to.equal(before + 1);
  });
});
