import { spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { connect } from "node:net";
import { execPath } from "node:process";
import { expect } from "chai";
import { type AllowedNetworks, readNetworks } from "../../src/signed-post/addresses.ts";
import { createSafePost, type SafePostSettings } from "../../src/signed-post/http-safe-post.ts";
import type { PostOutcome } from "../../src/signed-post/safe-post.ts";
import { eventually } from "../support/eventually.ts";
import { type Receiver, startReceiver, withStatus } from "../support/receiver.ts";

const networks = (text: string): AllowedNetworks => readNetworks(text).filter((network) => network !== null);
const loopback = networks("127.0.0.0/8");
const body = new TextEncoder().encode("{}");

const post = (url: string, settings: Partial<SafePostSettings> = {}): Promise<PostOutcome> =>
  createSafePost({ allowed: loopback, ...settings })({ url, headers: { "X-Test": "1" }, body });

const codeOf = (outcome: PostOutcome): string => (outcome.kind === "answered" ? "none" : outcome.error.code);

describe("A POST to a URL that a tenant gave", () => {
  let receiver: Receiver;

  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());

  it("arrives as it was sent, and tells the status", async () => {
    receiver.answers(withStatus(202));
    expect(await post(`${receiver.url}/hook?x=1`)).to.deep.equal({
      kind: "answered",
      statusCode: 202,
      retryAfterMs: null,
    });
    expect(receiver.received).to.have.lengthOf(1);
    expect(receiver.received[0]).to.deep.include({ path: "/hook?x=1", text: "{}" });
    expect(receiver.received[0]?.headers).to.include({ "x-test": "1", "content-length": "2" });
  });

  it("tells for how long the receiver asks to be left alone, in seconds or until a date", async () => {
    receiver.answers(withStatus(429, { "Retry-After": "7" }));
    expect(await post(receiver.url)).to.include({ statusCode: 429, retryAfterMs: 7000 });
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    receiver.answers(withStatus(503, { "Retry-After": inAnHour }));
    const outcome = await post(receiver.url);
    expect(outcome.kind === "answered" && outcome.retryAfterMs).to.be.within(3_500_000, 3_600_000);
  });

  it("does not follow a redirect, wherever it leads", async () => {
    const inside = await startReceiver("127.0.0.2");
    receiver.answers(withStatus(302, { Location: `${inside.url}/secrets` }));
    expect(await post(receiver.url)).to.include({ kind: "answered", statusCode: 302 });
    expect(inside.received).to.deep.equal([]);
    await inside.stop();
  });

  it("waits for an answer as long as it may, and not longer", async () => {
    receiver.answers(() => {});
    expect(codeOf(await post(receiver.url, { timeoutMs: 100 }))).to.equal("timed-out");
  });

  it("takes a status as it came, although the rest of the answer never ends", async () => {
    receiver.answers((response) => {
      response.writeHead(200);
      const dripping = setInterval(() => response.write("."), 10);
      response.on("close", () => clearInterval(dripping));
    });
    expect(await post(receiver.url, { timeoutMs: 1500 })).to.include({ kind: "answered", statusCode: 200 });
  });

  it("does not read on when an answer is larger than it may be", async () => {
    let hungUp = false;
    receiver.answers((response) => {
      response.on("close", () => {
        hungUp = true;
      });
      response.writeHead(200);
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on("drain", pour);
      pour();
    });
    expect(await post(receiver.url)).to.include({ kind: "answered", statusCode: 200 });
    await eventually(() => expect(hungUp).to.equal(true));
  });

  it("is unanswered if no server listens, if the host has no address, and if the answer is not HTTP", async () => {
    // No test listens at this address, so that none can take the port.
    expect(codeOf(await post("http://127.0.0.9:8099"))).to.equal("connection-failed");
    const resolve = (): Promise<never> => Promise.reject(new Error("ENOTFOUND secret.internal"));
    expect(codeOf(await post("https://hooks.example.com", { resolve }))).to.equal("host-not-found");
    receiver.answers((response) => void response.socket?.end("SSH-2.0-OpenSSH_9.2\r\n"));
    expect(codeOf(await post(receiver.url))).to.equal("not-http");
    receiver.answers((response) => response.destroy());
    expect(codeOf(await post(receiver.url))).to.equal("connection-failed");
  });

  it("arrives at the one of two addresses that can be reached, though it is far away", async () => {
    const far = await startFarReceiver();
    const resolve = async () => [
      { address: "127.0.0.1", family: 4 },
      { address: "127.0.0.9", family: 4 },
    ];
    const posting = post(`http://far.example.com:${far.port}/`, { resolve });
    setTimeout(far.wake, 500);
    expect(await posting).to.include({ kind: "answered", statusCode: 204 });
    far.stop();
  });

  it("trusts no TLS that is none", async () => {
    const outcome = await post(receiver.url.replace("http:", "https:"));
    expect(codeOf(outcome)).to.equal("tls-failed");
  });

  it("does not wait for a name server that says nothing", async () => {
    const resolve = (): Promise<never> => new Promise(() => {});
    expect(codeOf(await post("https://hooks.example.com", { resolve, timeoutMs: 50 }))).to.equal("timed-out");
  });

  it("stops when its signal aborts", async () => {
    receiver.answers(() => {});
    const stopping = new AbortController();
    const send = createSafePost({ allowed: loopback });
    const sending = send({ url: receiver.url, headers: {}, body, signal: stopping.signal });
    await eventually(() => expect(receiver.received).to.have.lengthOf(1));
    stopping.abort();
    expect((await sending).kind).to.equal("unanswered");
  });

  it("leaves nothing behind with a signal that goes on: Node would keep what listens for as long as that", async () => {
    const [stopping, signals] = [new AbortController(), [] as AbortSignal[]];
    const resolve = async (_host: string, over: AbortSignal) => {
      signals.push(over);
      return [{ address: "127.0.0.1", family: 4 }];
    };
    const url = receiver.url.replace("127.0.0.1", "hooks.example.com");
    const send = createSafePost({ allowed: loopback, resolve });
    expect(await send({ url, headers: {}, body, signal: stopping.signal })).to.include({ kind: "answered" });
    expect(signals.map((over) => getEventListeners(over, "abort").length)).to.deep.equal([0]);
  });
});

/** Accepts no connection before it wakes; the system then tries again, a second after the first time. */
async function startFarReceiver() {
  const program = `const server = require("node:http").createServer((_, response) => response.writeHead(204).end());
    server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => console.log(server.address().port));`;
  const process = spawn(execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(process.stdout, "data");
  const port = Number(line);
  process.kill("SIGSTOP");
  const waiting = Array.from({ length: 3 }, () => connect(port, "127.0.0.1").on("error", () => {}));
  await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, "connect")));
  const stop = (): void => {
    for (const socket of waiting) socket.destroy();
    process.kill("SIGKILL");
  };
  return { port, wake: () => process.kill("SIGCONT"), stop };
}

describe("An address that only we can reach", () => {
  let inside: Receiver;

  before(async () => {
    inside = await startReceiver();
  });
  after(() => inside.stop());

  const hosts = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::7f00:1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
  ];

  for (const host of hosts) {
    it(`is not called as ${host}`, async () => {
      const outcome = await post(`https://${host}:${inside.port}/`, { allowed: [] });
      expect(outcome).to.include({ kind: "refused" });
      expect(inside.received).to.deep.equal([]);
    });
  }

  for (const address of hosts
    .map((host) => host.replace(/[[\]]/g, ""))
    .filter((host) => /^\d+(\.\d+){3}$|:/.test(host))) {
    it(`is not called by a name that leads to ${address}, and the refusal does not say where it leads`, async () => {
      const family = address.includes(":") ? 6 : 4;
      const resolve = async () => [{ address, family }];
      const outcome = await post("https://hooks.example.com/", { allowed: [], resolve });
      expect(outcome).to.deep.include({ kind: "refused" });
      expect(codeOf(outcome)).to.equal("address-refused");
      expect(JSON.stringify(outcome)).not.to.include(address);
    });
  }

  it("is not called where it is one of several that a name has", async () => {
    const resolve = async () => [
      { address: "93.184.215.14", family: 4 },
      { address: "127.0.0.1", family: 4 },
    ];
    expect(codeOf(await post("https://hooks.example.com/", { allowed: [], resolve }))).to.equal("address-refused");
  });

  it("is not called by a name that leads elsewhere the next time: it is asked for once, and that holds", async () => {
    const secret = await startReceiver("127.0.0.1");
    // Others listen at the first address only, so that its ports are free at this one.
    const allowed = await startReceiver("127.0.0.2", secret.port);
    const answers = ["127.0.0.2", "127.0.0.1"];
    let asked = 0;
    const resolve = async () => [{ address: answers[asked++] ?? "127.0.0.1", family: 4 }];
    const url = `http://rebinding.example.com:${allowed.port}/`;
    const settings = { allowed: networks("127.0.0.2/32"), resolve };
    expect(await post(url, settings)).to.include({ kind: "answered", statusCode: 204 });
    expect({ asked, secret: secret.received.length, allowed: allowed.received.length }).to.deep.equal({
      asked: 1,
      secret: 0,
      allowed: 1,
    });
    expect(codeOf(await post(url, settings))).to.equal("address-refused");
    expect(secret.received).to.deep.equal([]);
    await Promise.all([allowed.stop(), secret.stop()]);
  });

  it("is called if it is allowed, and no other host is called without TLS", async () => {
    expect(await post(inside.url)).to.include({ kind: "answered" });
    const resolve = async () => [{ address: "93.184.215.14", family: 4 }];
    expect(codeOf(await post("http://hooks.example.com/", { resolve }))).to.equal("url-refused");
  });
});
