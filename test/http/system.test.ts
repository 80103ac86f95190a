import { expect } from "chai";
import { allJobKinds } from "../../src/job-kinds/all-job-kinds.ts";
import { openAccess, type TestAccess } from "../support/access.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { storedKey } from "../support/keys.ts";
import { mailing, startApi } from "../support/running-api.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

type System = {
  readonly streams: readonly { readonly name: string; readonly messages: number; readonly lastSequence: number }[];
  readonly consumers: readonly { readonly name: string; readonly stream: string; readonly pending: number }[];
  readonly workers: readonly { readonly name: string }[];
  readonly keys: readonly { readonly id: string }[];
};

describe("What operators see of the system", () => {
  let stage: Stage;
  let access: TestAccess;
  let waybill: Waybill;
  let api: ApiClient;

  before(async () => {
    stage = await setStage();
    access = await openAccess(stage.nats);
    waybill = await startWaybill(stage.surroundings, { AUTH: "off", JOBS_MAX_BYTES: "50000000" });
    api = createApiClient(waybill.url);
    await api.ended(await api.create(mailing));
  });
  after(async () => {
    await waybill.stop();
    await access.close();
    await stage.cleanUp();
  });

  const read = async (): Promise<System> => {
    const { status, body } = await api.get("/api/admin/system");
    expect(status).to.equal(200);
    return body as System;
  };

  it("is each stream of the service and of no other, how full it is and how full it may be", async () => {
    const { prefix } = stage.nats;
    await access.connection.nats
      .jetstreamManager()
      .then(({ streams }) => streams.add({ name: `${prefix}OTHER`, subjects: [`${prefix}other`] }));
    const { streams } = await read();
    expect(streams.map(({ name }) => name)).to.include.members([
      `${prefix}_JOBS`,
      `${prefix}_CONTENT`,
      `${prefix}_SUPPRESSIONS`,
      `${prefix}_TURNS`,
      `KV_${prefix}_ACCESS`,
      `KV_${prefix}_SEALS`,
    ]);
    expect(streams.filter(({ name }) => !name.includes(`${prefix}_`))).to.deep.equal([]);
    const limits = { maxBytes: 50_000_000, maxMessages: null, maxAgeSeconds: null, replicas: 1 };
    const jobs = streams.find(({ name }) => name === `${prefix}_JOBS`);
    expect(jobs).to.deep.include({ firstSequence: 1, messages: jobs?.lastSequence, ...limits });
    expect(jobs?.lastSequence).to.be.greaterThan(2);
    const manager = await access.connection.nats.jetstreamManager();
    await manager.streams.delete(`${prefix}OTHER`);
  });

  it("is each listener of the log, and what waits for it", async () => {
    await eventually(async () => {
      const { consumers } = await read();
      const scheduler = consumers.find(({ name }) => name === "scheduler");
      expect(scheduler).to.deep.equal({
        name: "scheduler",
        stream: `${stage.nats.prefix}_JOBS`,
        pending: 0,
        ackPending: null,
        redelivered: null,
      });
    });
  });

  it("is each lane of turns, and what waits in it", async () => {
    const { consumers } = await read();
    const lanes = consumers.filter(({ stream }) => stream === `${stage.nats.prefix}_TURNS`).map(({ name }) => name);
    expect(lanes).to.include.members(["email-send-high-lane", "email-send-high-overflow", "webhook-deliver-low-lane"]);
  });

  it("is each worker of every process, with the breaker of those that send mail, and none that is gone", async () => {
    const alone = await eventually(async () => {
      const { workers } = await read();
      expect(workers.map(({ name: _, ...state }) => state)).to.have.deep.members([
        { type: "email.send", busy: 0, slots: 20, helping: 0, breaker: "closed" },
        { type: "report.export", busy: 0, slots: 2, helping: 0, breaker: null },
        { type: "webhook.deliver", busy: 0, slots: 20, helping: 0, breaker: null },
      ]);
      return workers;
    });
    const other = await startWaybill(stage.surroundings, { AUTH: "off", ROLES: "worker" });
    try {
      // A worker whose machine is busy may not answer in time.
      await eventually(async () => {
        const both = (await read()).workers;
        expect(both).to.include.deep.members([...alone]);
        expect(new Set(both.map(({ name }) => name))).to.have.length(2 * allJobKinds.length);
      });
    } finally {
      await other.stop();
    }
    await eventually(async () => expect((await read()).workers).to.deep.equal(alone));
  });

  it("is every key, also revoked ones, and no secret", async () => {
    const [one, other] = [await storedKey(access.store), await storedKey(access.store, { scopes: ["admin"] })];
    await access.store.revokeKey(other.record.id, "2026-11-21T10:00:00.000Z");
    const { body } = await api.get("/api/admin/system");
    const { sha256: _, ...shown } = one.record;
    expect((body as System).keys).to.have.deep.members([
      shown,
      { ...shown, id: other.record.id, scopes: ["admin"], revokedAt: "2026-11-21T10:00:00.000Z" },
    ]);
    const text = JSON.stringify(body);
    for (const secret of ["sha256", one.record.sha256 ?? "?", one.text.slice(-49)]) expect(text).not.to.include(secret);
  });

  it("cannot be told while NATS is away", async () => {
    const without = await startApi();
    const { status, body } = await without.ask("GET", "/api/admin/system");
    expect({ status, code: body.code }).to.deep.equal({ status: 503, code: "event-log-unavailable" });
    await without.close();
  });
});
