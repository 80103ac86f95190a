import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { type Listening, listen } from "../../src/http/server/listen.ts";

/** What the server says to some bytes before it hangs up. */
async function exchange(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.end(bytes);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  await once(socket, "close");
  return answer;
}

describe("A server that listens", () => {
  let server: Listening;
  let held: (() => void)[];

  beforeEach(async () => {
    held = [];
    const app = new Koa();
    app.use(async (ctx) => {
      if (ctx.path === "/held") await new Promise<void>((resolve) => held.push(resolve));
      ctx.body = "done";
    });
    server = await listen(app, "127.0.0.1", 0);
  });
  afterEach(() => server.close());

  it("tells the port that it took", async () => {
    expect(server.url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(server.url)).text()).to.equal("done");
  });

  it("fails when the port is taken", async () => {
    const port = Number(new URL(server.url).port);
    const failure = await listen(new Koa(), "127.0.0.1", port).catch((error) => error);
    expect(failure).to.include({ code: "EADDRINUSE" });
  });

  for (const [title, bytes, status, code] of [
    ["no HTTP at all", "EHLO example.com\r\n\r\n", 400, "invalid-request"],
    [
      "two lengths",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      400,
      "invalid-request",
    ],
    ["headers without end", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431, "headers-too-large"],
  ] as const) {
    it(`answers ${title} with a problem document`, async () => {
      const [head, body] = (await exchange(server.url, bytes)).split("\r\n\r\n");
      expect(head)
        .to.match(new RegExp(`^HTTP/1.1 ${status} `))
        .and.match(/Content-Type: application\/problem\+json/);
      expect(JSON.parse(body ?? "")).to.include({ status, code });
    });
  }

  it("answers a request that expects something as any other", async () => {
    const answer = await exchange(server.url, "GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\nConnection: close\r\n\r\n");
    expect(answer).to.match(/^HTTP\/1.1 200 [\s\S]*done$/);
  });

  describe("and is closed", () => {
    const openSocket = async (): Promise<Socket> => {
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
      await once(socket, "connect");
      return socket;
    };
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise(setImmediate);
    };

    it("breaks off an answer that does not end in time", async () => {
      const answer = fetch(`${server.url}/held`).then(
        () => "answered",
        () => "broken off",
      );
      await until(() => held.length === 1);
      const begunAt = performance.now();
      await server.close(200);
      expect(performance.now() - begunAt).to.be.within(190, 2000);
      expect(await answer).to.equal("broken off");
    });

    it("finishes the answer that is on its way, then hangs up", async () => {
      const answer = fetch(`${server.url}/held`);
      await until(() => held.length === 1);
      const closed = server.close();
      held[0]?.();
      const response = await answer;
      expect(await response.text()).to.equal("done");
      expect(response.headers.get("Connection")).to.equal("close");
      await closed;
    });

    it("takes no new connection", async () => {
      const answer = fetch(`${server.url}/held`);
      await until(() => held.length === 1);
      const closed = server.close();
      const failure = await fetch(server.url).catch((error) => error.cause);
      expect(failure).to.include({ code: "ECONNREFUSED" });
      held[0]?.();
      await answer;
      await closed;
    });

    it("hangs up on connections that ask nothing", async () => {
      const idle = await openSocket();
      const hungUp = once(idle.resume(), "close");
      await fetch(server.url);
      await server.close();
      await hungUp;
    });
  });
});
