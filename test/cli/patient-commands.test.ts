import { join } from "node:path";
import { expect } from "chai";
import { runProgram } from "../support/command-tree.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { settingsFor, startWaybill } from "../support/waybill.ts";

describe("Commands, where NATS does not answer", function () {
  this.timeout(120_000);

  let stage: Stage;
  let proxy: TcpProxy;
  let env: Readonly<Record<string, string>>;

  before(async () => {
    stage = await setStage();
    const service = await startWaybill(stage.surroundings);
    await service.stop();
    const { config, prefix } = stage.nats;
    const [server = ""] = config.servers;
    proxy = await startTcpProxy({ host: "127.0.0.1", port: Number(server.split(":").at(-1)) });
    const nats = { config: { ...config, servers: [`127.0.0.1:${proxy.port}`] }, prefix };
    env = settingsFor({ ...stage.surroundings, nats });
  });
  afterEach(() => proxy.restore());
  after(async () => {
    await proxy?.stop();
    await stage?.cleanUp();
  });

  const commands = (): readonly (readonly string[])[] => [
    ["rebuild", "jobs", "--check"],
    ["keys", "list"],
    ["keys", "create", "--tenant", "acme"],
    ["seals", "key"],
    ["webhooks", "secret"],
    ["log", "export", join(stage.folder, "log.ndjson")],
  ];

  for (const [what, takeAway] of [
    ["for a while", () => proxy.stall()],
    // Connections come about; an answer takes 1.8 s.
    ["in time", () => proxy.slowDown({ latencyMs: 900, bytesPerSecond: 1_000_000 })],
  ] as const) {
    it(`try again, tell for how long, and do their work once it does: not ${what}`, async () => {
      takeAway();
      const place = `127\\.0\\.0\\.1:${proxy.port}`;
      const told = new RegExp(`^NATS at ${place} has not answered for 5 s; trying for 30 s$`, "m");
      const running = commands().map((words) =>
        runProgram(words, env, false, (line) => {
          // All of them wait by then, or have done what they were asked to.
          if (told.test(line)) void proxy.restore();
        }),
      );
      const outcomes = await Promise.all(running);
      for (const [index, { code, err }] of outcomes.entries()) {
        expect(code, `${commands()[index]?.join(" ")}: ${err}`).to.equal(0);
      }
      expect(outcomes.map(({ err }) => err).join("\n")).to.match(told);
    });
  }

  it("give up after COMMAND_PATIENCE, and say what to look at", async () => {
    await proxy.cut();
    const { code, err } = await runProgram(["keys", "list"], { ...env, COMMAND_PATIENCE: "300" });
    expect(code).to.equal(1);
    expect(err).to.match(/^NATS cannot be reached at 127\.0\.0\.1:\d+: .*\nCheck NATS_URL/m);
  });
});
