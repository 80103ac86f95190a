import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { eventually } from "./eventually.ts";
import { failureOf } from "./failure-of.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

describe("a door in front of a server", () => {
  let echo: Server;
  let door: TcpProxy;
  const clients: Socket[] = [];

  const open = async (): Promise<{ socket: Socket; heard: () => string }> => {
    const socket = connect(door.port, "127.0.0.1");
    clients.push(socket);
    let heard = "";
    socket.on("data", (chunk) => {
      heard += String(chunk);
    });
    await once(socket, "connect");
    return { socket, heard: () => heard };
  };

  beforeEach(async () => {
    echo = createServer((socket) => socket.on("error", () => {}).pipe(socket)).listen(0, "127.0.0.1");
    await once(echo, "listening");
    door = await startTcpProxy({ host: "127.0.0.1", port: (echo.address() as AddressInfo).port });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await door.stop();
    echo.close();
    await once(echo, "close");
  });

  it("passes everything on while it is open", async () => {
    const { socket, heard } = await open();
    const long = "long ".repeat(200_000);
    socket.write(long);
    await eventually(() => expect(heard()).to.have.length(long.length));
  });

  it("breaks connections and takes no new ones when it is cut, until it is restored on the same port", async () => {
    const { socket } = await open();
    const closed = once(socket, "close");
    await door.cut();
    await closed;
    expect((await failureOf(open())).message).to.contain("ECONNREFUSED");
    await door.restore();
    const { socket: next, heard } = await open();
    next.write("again");
    await eventually(() => expect(heard()).to.equal("again"));
  });

  it("keeps connections but passes nothing on while it is stalled, and then all of it", async () => {
    const { socket, heard } = await open();
    socket.write("before ");
    await eventually(() => expect(heard()).to.equal("before "));
    door.stall();
    const late = await open();
    socket.write("meanwhile");
    late.socket.write("late");
    // Two others go the whole way round meanwhile, so what is not heard after that was held back.
    const other = connect((echo.address() as AddressInfo).port, "127.0.0.1");
    clients.push(other);
    other.write("round");
    await once(other, "data");
    expect([heard(), late.heard(), socket.destroyed]).to.deep.equal(["before ", "", false]);
    await door.restore();
    await eventually(() => expect([heard(), late.heard()]).to.deep.equal(["before meanwhile", "late"]));
  });

  it("passes everything on in order while it is slow, each way as late as it was told, and at once when restored", async () => {
    const { socket, heard } = await open();
    door.slowDown({ latencyMs: 60, bytesPerSecond: 50_000 });
    const askedAt = performance.now();
    const words = Array.from({ length: 1000 }, (_, index) => `word ${index} `);
    for (const word of words) socket.write(word);
    await eventually(() => expect(heard()).not.to.equal(""));
    expect(performance.now() - askedAt).to.be.at.least(110);
    await door.restore();
    socket.write("after");
    await eventually(() => expect(heard()).to.equal(`${words.join("")}after`));
  });

  it("passes on at once what clients say while answers are delayed", async () => {
    let arrived = 0;
    echo.once("connection", (peer: Socket) => {
      peer.on("data", (chunk: Buffer) => {
        arrived += chunk.length;
      });
    });
    const { socket, heard } = await open();
    // Longer than the test may take, so on a busy machine too nothing is answered meanwhile.
    door.delayAnswers(600_000);
    const long = manyWords();
    socket.write(long);
    await eventually(() => expect(arrived).to.equal(long.length));
    expect(heard()).to.equal("");
  });

  it("passes on in order and late what clients are answered while answers are delayed", async () => {
    const { socket, heard } = await open();
    door.delayAnswers(400);
    const long = manyWords();
    const askedAt = performance.now();
    socket.write(long);
    await once(socket, "data");
    expect(performance.now() - askedAt).to.be.at.least(390);
    await eventually(() => expect(heard().length).to.equal(long.length));
    expect(heard() === long).to.equal(true);
  });

  it("lets a slow goodbye arrive before it ends the connection", async () => {
    const shortSpoken = createServer((socket) => socket.on("error", () => {}).end("goodbye")).listen(0, "127.0.0.1");
    await once(shortSpoken, "listening");
    const other = await startTcpProxy({ host: "127.0.0.1", port: (shortSpoken.address() as AddressInfo).port });
    other.slowDown({ latencyMs: 50, bytesPerSecond: 50_000 });
    const client = connect(other.port, "127.0.0.1");
    const [word] = await once(client, "data");
    expect(String(word)).to.equal("goodbye");
    await once(client, "close");
    await other.stop();
    shortSpoken.close();
    await once(shortSpoken, "close");
  });
});

/** Two megabytes: more than the buffers on the way hold. */
function manyWords(): string {
  return Array.from({ length: 200_000 }, (_, index) => `word ${index} `).join("");
}
