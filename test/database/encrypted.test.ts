import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { expect } from "chai";
import type { Knex } from "knex";
import { abandonConnection, createDatabase, openConnection, waitWithoutLimit } from "../../src/database/database.ts";
import { ask } from "../../src/database/session.ts";
import { failureOf } from "../support/failure-of.ts";

/** They need no certificate. */
const anonymous = { ciphers: "AECDH-AES128-SHA:@SECLEVEL=0", maxVersion: "TLSv1.2" } as const;

const slowMs = 1000;
const slow = "ALTER TABLE large";

const packet = (number: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([payload.length, 0, 0, number]), payload]);
const done = (number: number): Buffer => packet(number, Buffer.from([0, 0, 0, 2, 0, 0, 0]));
/** As a server greets that speaks TLS. */
const greeting = packet(
  0,
  Buffer.concat([
    Buffer.from("\n8.0.0\0\x01\0\0\0saltsalt\0", "latin1"),
    Buffer.from([0x09, 0xaa, 45, 2, 0, 0x08, 0, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    Buffer.from("saltsaltsalt\0mysql_native_password\0"),
  ]),
);

/** Speaks as much of MySQL's protocol as a client needs whose statements return no rows. */
function serve(socket: Socket): void {
  socket.on("error", () => {}).write(greeting);
  socket.once("data", (request: Buffer) => {
    socket.pause();
    if (request.length > 36) socket.unshift(request.subarray(36));
    const secure = new TLSSocket(socket, { isServer: true, ...anonymous });
    secure.on("error", () => {});
    secure.once("data", () => {
      secure.write(done(3));
      secure.on("data", (statement: Buffer) => {
        setTimeout(() => secure.write(done(1)), statement.includes(slow) ? slowMs : 0);
      });
    });
  });
}

describe("a database over TLS", () => {
  let server: Server;
  let db: Knex;

  before(async () => {
    server = createServer(serve).listen(0, "127.0.0.1");
    await once(server, "listening");
    const ssl = encodeURIComponent(JSON.stringify({ rejectUnauthorized: false, ...anonymous }));
    const { port } = server.address() as AddressInfo;
    db = createDatabase(`mysql://waybill@127.0.0.1:${port}/waybill?ssl=${ssl}`, { silenceMs: 300 });
  });
  after(async () => {
    await db.destroy();
    server.close();
  });

  it("is given up once it is silent for too long", async () => {
    const connection = await openConnection(db);
    expect(await failureOf(ask(connection, slow))).to.have.property("name", "DatabaseSilent");
  });

  it("is waited for without a limit where a statement takes long", async () => {
    const connection = await openConnection(db);
    waitWithoutLimit(connection);
    await ask(connection, slow);
    abandonConnection(connection);
  });
});
