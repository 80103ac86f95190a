import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { NatsConnection } from "nats";
import { type NodeWatch, watchNode } from "../../src/nats/node-watch.ts";

const [own, unreachable, other] = ["own:4222", "unreachable:4222", "other:4222"];

/** As long as a client waits for an answer, and for a connection. */
const answerMs = 1500;
const connectMs = 2000;

describe("a client whose node does not answer", function () {
  this.timeout(20_000);
  const elapsedMs = (): number => performance.now() - start;
  let start: number;
  let watch: NodeWatch;
  let left: Promise<readonly [to: string, atMs: number]>;

  /** The client's own node never answers, one is away, and the other one serves from this moment on. */
  const begin = (othersServeFromMs: number): void => {
    start = performance.now();
    const connectionTo = (address: string) =>
      ({
        getServer: () => address,
        isClosed: () => false,
        info: { server_id: address },
        protocol: {
          servers: { servers: [own, unreachable, other].map((listen) => ({ listen })), addServer: () => {} },
        },
        close: async () => {},
      }) as unknown as NatsConnection;
    left = new Promise((resolve) => {
      watch = watchNode({
        nats: connectionTo(own),
        isUp: () => true,
        inOrder: (addresses) => addresses,
        isWorking: async (nats) => {
          if (nats.getServer() === other) return elapsedMs() >= othersServeFromMs;
          return await pause(answerMs, false, { ref: false });
        },
        visit: async (address) => {
          if (address === other) return connectionTo(other);
          await pause(connectMs, undefined, { ref: false });
          throw new Error("Nothing listens there.");
        },
        leaveFor: (address) => resolve([address, elapsedMs()]),
        moveTo: async () => {},
        notice: () => {},
      });
    });
    watch.unanswered();
  };
  afterEach(() => watch.stop());

  it("stays for four seconds, though another one answers", async () => {
    begin(0);
    const [to, atMs] = await left;
    expect(to).to.equal(other);
    expect(atMs).to.be.within(4000, 6500);
  });

  it("leaves it soon after another one answers, and waits for none that is away", async () => {
    begin(4600);
    const [to, atMs] = await left;
    expect(to).to.equal(other);
    expect(atMs).to.be.within(4600, 6800);
  });
});
