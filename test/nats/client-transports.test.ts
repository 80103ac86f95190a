import { expect } from "chai";
import { connect, type NatsConnection } from "nats";
import { endTransportsInTime } from "../../src/nats/client-transports.ts";
import { completePool } from "../../src/nats/server-pool.ts";
import { eventually } from "../support/eventually.ts";
import { startNats, type TestNats } from "../support/services.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

describe("A connection of the NATS client", function () {
  this.timeout(30_000);
  let nats: TestNats;
  let doors: readonly TcpProxy[];
  let connection: NatsConnection;
  let reconnects: string[];

  const watch = async (): Promise<void> => {
    for await (const { type, data } of connection.status()) {
      if (type === "reconnect") reconnects.push(String(data));
    }
  };

  beforeEach(async () => {
    nats = await startNats();
    const [server = ""] = nats.config.servers;
    const [host = "", port] = server.split(":");
    const target = { host, port: Number(port) };
    doors = await Promise.all([startTcpProxy(target), startTcpProxy(target)]);
    const servers = doors.map((door) => `127.0.0.1:${door.port}`);
    connection = await connect({
      servers,
      ...(nats.config.user !== null && { user: nats.config.user }),
      ...(nats.config.password !== null && { pass: nats.config.password }),
      noRandomize: true,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 50,
      reconnectJitter: 0,
      timeout: 400,
      pingInterval: 300,
    });
    completePool(connection, servers);
    endTransportsInTime(connection);
    reconnects = [];
    watch().catch(() => {});
  });
  afterEach(async () => {
    await connection.close();
    await Promise.all(doors.map((door) => door.stop()));
    await nats.cleanUp();
  });

  it("stays with the server that answered, and gets each message once, when another one answers late", async () => {
    const [first, second] = doors as readonly [TcpProxy, TcpProxy];
    let received = 0;
    connection.subscribe(`${nats.prefix}.greeting`, {
      callback: () => {
        received += 1;
      },
    });
    second.stall();
    await first.cut();
    await eventually(() => expect(second.connections()).to.be.greaterThan(0));
    await first.restore();
    await eventually(() => expect(reconnects).to.deep.equal([`127.0.0.1:${first.port}`]));
    await second.restore();
    // What answers late is not used, so nothing is left of it.
    await eventually(() => expect(second.connections()).to.equal(0));
    connection.publish(`${nats.prefix}.greeting`);
    await connection.flush();
    await eventually(() => expect(received).to.be.at.least(1));
    await connection.flush();
    expect(received).to.equal(1);
    expect(reconnects).to.have.lengthOf(1);
  });

  it("leaves a server that takes nothing any more, however much is still to be written", async () => {
    const [first, second] = doors as readonly [TcpProxy, TcpProxy];
    first.stall();
    // More than all buffers on the way hold.
    const data = new Uint8Array(500_000);
    for (let count = 0; count < 60; count += 1) connection.publish(`${nats.prefix}.load`, data);
    await eventually(() => expect(reconnects).to.deep.equal([`127.0.0.1:${second.port}`]));
  });
});
