import { expect } from "chai";
import type { Knex } from "knex";
import { createDatabase } from "../../src/database/database.ts";
import { type BreakerState, Unavailable } from "../../src/domain/unavailable.ts";
import { createAppendTrouble } from "../../src/event-log/observe-appends.ts";
import { type ProbeDependencies, probesFor } from "../../src/health/health-probes.ts";
import type { Role } from "../../src/settings/config.ts";
import type { StandstillOfKind } from "../../src/workers/standstill.ts";
import { now } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("What a process looks at to see whether it is ready", () => {
  let db: Knex;
  before(() => {
    db = createDatabase("mysql://nobody@127.0.0.1:1/none");
  });
  after(() => db.destroy());

  const probes = (roles: readonly Role[], changed: Partial<ProbeDependencies> = {}) =>
    probesFor({
      roles: new Set(roles),
      log: createMemoryEventLog(),
      room: { isLeftForJobs: async () => true },
      canary: { check: async () => {} },
      appendTrouble: createAppendTrouble(),
      logServer: () => ({ version: "2.9.10", durability: "flushed every 2 minutes" }),
      db,
      mayChangeTables: true,
      workers: null,
      seals: null,
      ...changed,
    });
  const workersWith = (breaker: BreakerState, standstills: readonly StandstillOfKind[] = []) => ({
    breaker: () => breaker,
    standstills: () => standstills,
  });
  const needs = (...given: Parameters<typeof probes>) =>
    probes(...given)
      .filter(({ isNeeded }) => isNeeded)
      .map(({ name }) => name);
  const examine = async (name: string, changed: Partial<ProbeDependencies>) =>
    await probes(["api", "worker"], changed)
      .find((probe) => probe.name === name)
      ?.check();

  it("is NATS whatever it does, and the rest only where it takes no jobs", () => {
    const workers = workersWith("closed");
    expect(needs(["api", "scheduler", "worker", "projector"], { workers })).to.deep.equal(["nats"]);
    expect(needs(["projector"])).to.deep.equal(["nats", "mysql"]);
    expect(needs(["worker"], { workers })).to.deep.equal(["nats", "mail"]);
    expect(needs(["scheduler"])).to.deep.equal(["nats"]);
  });

  it("finds NATS up when it stores something, and shows what it promises", async () => {
    expect(await examine("nats", {})).to.deep.equal({
      status: "up",
      lastSequence: 0,
      acceptsJobs: true,
      version: "2.9.10",
      durability: "flushed every 2 minutes",
    });
  });

  it("finds NATS down when it does not store the canary", async () => {
    const canary = { check: () => Promise.reject(new Unavailable("NATS did not answer.")) };
    expect(await failureOf(examine("nats", { canary }))).to.be.instanceOf(Unavailable);
  });

  it("finds a log without room for jobs degraded: it is served here as well as anywhere", async () => {
    const room = { isLeftForJobs: async () => false };
    expect(await examine("nats", { room })).to.include({ status: "degraded", acceptsJobs: false });
  });

  it("finds NATS down when the log itself was frozen, and up again after a new start or a while", async () => {
    let nowMs = 0;
    const appendTrouble = createAppendTrouble(() => nowMs);
    const isDown = () =>
      examine("nats", { appendTrouble }).then(
        () => false,
        () => true,
      );
    appendTrouble.heard("unavailable");
    expect(await isDown()).to.equal(true);
    appendTrouble.forget();
    expect(await isDown()).to.equal(false);
    appendTrouble.heard("unavailable");
    appendTrouble.heard("conflict");
    expect(await isDown()).to.equal(false);
    appendTrouble.heard("unavailable");
    nowMs = 30_000;
    expect(await isDown()).to.equal(false);
  });

  it("finds the mail server down while the breaker is not closed", async () => {
    for (const breaker of ["open", "half-open"] as const) {
      expect(await examine("mail", { workers: workersWith(breaker) })).to.deep.equal({ status: "down", breaker });
    }
    expect(await examine("mail", { workers: workersWith("closed") })).to.deep.equal({
      status: "up",
      breaker: "closed",
    });
  });

  it("finds workers degraded that take no work, and never in need of being taken out of service", async () => {
    const standstill = {
      type: "email.send",
      reason: "mail-server-away",
      since: now,
      forMs: 5000,
      failure: null,
    } as const;
    expect(await examine("workers", { workers: workersWith("open", [standstill]) })).to.deep.equal({
      status: "degraded",
      standstills: [{ type: "email.send", reason: "mail-server-away", since: now }],
    });
    expect(await examine("workers", { workers: workersWith("closed") })).to.deep.equal({ status: "up" });
  });
});
