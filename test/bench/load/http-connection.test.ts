import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { openHttpConnection } from "./http-connection.ts";

describe("a connection of the benchmark's load", () => {
  let server: Server | null = null;

  /** Answers every request with the same pieces, one packet each. */
  const listen = async (pieces: readonly string[]): Promise<number> => {
    server = createServer((socket) => {
      socket.setNoDelay(true);
      socket.on("data", () => void answer(socket, pieces));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  };

  const answer = async (socket: Socket, pieces: readonly string[]): Promise<void> => {
    for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
  };

  afterEach(() => server?.close());

  it("goes on to the next request once the whole answer is there", async () => {
    const connection = await openHttpConnection(
      await listen(["HTTP/1.1 201 Created\r\nContent-", "Length: 7\r\n\r\nab", "\r\n\r\nc"]),
    );
    expect(await connection.send(Buffer.from("one"))).to.equal(201);
    expect(await connection.send(Buffer.from("two"))).to.equal(201);
    connection.close();
  });

  it("says what it does not understand, instead of waiting for ever", async () => {
    const connection = await openHttpConnection(await listen(["HTTP/1.1 200 OK\r\n\r\nbody"]));
    const failure = await connection.send(Buffer.from("one")).catch((reason: Error) => reason.message);
    expect(failure).to.contain("An answer without a length");
  });
});
