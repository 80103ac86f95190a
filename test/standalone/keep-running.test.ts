import { expect } from "chai";
import { keepRunning } from "../../src/standalone/keep-running.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";

/** A server without a process. */
function createFakeServer() {
  let end: (code: number) => void = () => {};
  const exited = new Promise<number>((resolve) => {
    end = resolve;
  });
  let stops = 0;
  return {
    port: 4,
    exited,
    end,
    stops: () => stops,
    stop: async () => {
      stops += 1;
      end(0);
    },
    lastWords: async () => "Its last words.",
  };
}

describe("a server that is kept running", () => {
  const about = { name: "the server", untilThen: "nothing works" };
  type Fake = ReturnType<typeof createFakeServer>;

  const firstPauseMs = 20;

  /** `fails`: how many of the later starts fail. `start`: what each of them waits for. */
  async function keep({ fails = 0, start = async (): Promise<void> => {} } = {}) {
    const started: Fake[] = [];
    const lines: string[] = [];
    let failsLeft = fails;
    const begin = async (): Promise<Fake> => {
      const server = createFakeServer();
      started.push(server);
      return server;
    };
    const beginAgain = async (first: Fake): Promise<Fake> => {
      expect(first).to.equal(started[0]);
      await start();
      if (failsLeft > 0) {
        failsLeft -= 1;
        throw new Error("The disk is full.");
      }
      return await begin();
    };
    const server = await keepRunning(about, begin, beginAgain, (line) => lines.push(line), firstPauseMs);
    return { server, started, lines };
  }

  it("is the first one, and nothing is said of it", async () => {
    const { server, started, lines } = await keep();
    expect(server.port).to.equal(4);
    await server.stop();
    expect(started).to.have.length(1);
    expect(lines).to.deep.equal([]);
  });

  it("is started again as often as it ends by itself, and the last one is stopped", async () => {
    const { server, started, lines } = await keep();
    started[0]?.end(137);
    await eventually(() => expect(lines).to.include("the server runs again."));
    expect(lines[0]).to.equal("the server ended by itself, with code 137. Its last words.");
    expect(lines[1]).to.contain("nothing works");
    started[1]?.end(1);
    await eventually(() => expect(started).to.have.length(3));
    await server.stop();
    expect(started[2]?.stops()).to.be.above(0);
    expect(started).to.have.length(3);
  });

  it("is tried again, after a longer pause, where it cannot be started", async () => {
    const { server, started, lines } = await keep({ fails: 1 });
    const beganAt = performance.now();
    started[0]?.end(137);
    await eventually(() => expect(lines).to.include("the server runs again."));
    expect(lines).to.include("the server could not be started again. The disk is full.");
    expect(performance.now() - beganAt).to.be.above(firstPauseMs * 2.9);
    await server.stop();
  });

  it("is not started again once it was told to stop", async () => {
    const { server, started, lines } = await keep();
    started[0]?.end(137);
    await eventually(() => expect(lines).to.have.length(2));
    await server.stop();
    expect(started).to.have.length(1);
  });

  it("is stopped where it was told to stop while it was started again", async () => {
    let hasBegun = false;
    let letGo: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const start = (): Promise<void> => {
      hasBegun = true;
      return held;
    };
    const { server, started, lines } = await keep({ start });
    started[0]?.end(137);
    await eventually(() => expect(hasBegun).to.equal(true));
    const stopped = server.stop();
    letGo();
    await stopped;
    expect(started).to.have.length(2);
    expect(started[1]?.stops()).to.equal(1);
    expect(lines).to.not.include("the server runs again.");
  });

  it("is not kept where it does not start the first time", async () => {
    const refuse = () => Promise.reject(new Error("The port is taken."));
    expect((await failureOf(keepRunning(about, refuse, refuse, () => {}))).message).to.equal("The port is taken.");
  });
});
