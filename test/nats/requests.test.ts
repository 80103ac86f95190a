import { expect } from "chai";
import { createDeadline } from "../../src/http/server/deadline.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { answerTimeoutMs } from "../../src/nats/requests.ts";
import { connectTo } from "../support/access.ts";
import { failureOf } from "../support/failure-of.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";

describe("A request to NATS", () => {
  let nats: OwnNats;
  let connection: JetStreamConnection;

  before(async () => {
    nats = await startOwnNats();
    connection = await connectTo(nats);
  });
  after(async () => {
    await connection.close();
    await nats.cleanUp();
  });

  /** This process does nothing for longer than a request may take; NATS answers meanwhile. */
  const standStill = (): void => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, answerTimeoutMs + 200);
  };
  const sent = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

  it("has its answer though the process stood still for longer than an answer may take", async () => {
    const asked = connection.request("$JS.API.INFO", "");
    await sent();
    standStill();
    expect((await asked).data).not.to.have.lengthOf(0);
  });

  it("has its answer, too, within the time of a request over HTTP", async () => {
    const asked = createDeadline(0).bound(() => connection.request("$JS.API.INFO", ""));
    await sent();
    standStill();
    expect((await asked).data).not.to.have.lengthOf(0);
  });

  it("fails where the process stood still and no answer came", async () => {
    const subject = `${nats.prefix}.silent`;
    connection.nats.subscribe(subject, { callback: () => {} });
    const asked = failureOf(connection.request(subject, ""));
    await sent();
    standStill();
    expect(await asked).to.include({ code: "TIMEOUT" });
  });
});
