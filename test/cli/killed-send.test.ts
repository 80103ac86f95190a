import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { atEndOfRun } from "../support/end-of-run.ts";
import { eventually } from "../support/eventually.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const recipients = 2100;
/** Long rows make parts of few recipients: some are added long before the last row is there. */
const filler = "x".repeat(4000);

describe("waybill send, ended in the middle", () => {
  let stage: Stage;
  let service: Waybill;

  before(async () => {
    stage = await setStage();
    service = await startWaybill(stage.surroundings);
    const rows = Array.from({ length: recipients }, (_, index) => `reader${index}@example.com,R${index},${filler}`);
    await writeFile(join(stage.folder, "readers.csv"), ["email,name,filler", ...rows].join("\n"));
    await writeFile(join(stage.folder, "news.txt"), "Hello {{ name }}");
  });
  after(async () => {
    await service?.stop();
    await stage?.cleanUp();
  });

  type Sending = { readonly child: ChildProcess; readonly exited: Promise<unknown[]>; out(): string; told(): string };

  const send = (url: string): Sending => {
    const args = ["send", "--subject", "News", "--text", "news.txt", "--csv", "readers.csv", "--wait", "--json"];
    const env = { PATH: process.env["PATH"], WAYBILL_URL: url };
    const child = spawn(process.execPath, [main, ...args], {
      cwd: stage.folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    atEndOfRun(async () => void child.kill("SIGKILL"));
    const said = { out: "", told: "" };
    child.stdout?.on("data", (chunk: Buffer) => {
      said.out += chunk.toString();
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      said.told += chunk.toString();
    });
    return { child, exited: once(child, "close"), out: () => said.out, told: () => said.told };
  };
  const mailings = async (): Promise<readonly Shown[]> =>
    ((await (await fetch(`${service.url}/api/mailings`)).json()) as { data: Shown[] }).data;
  const added = async (): Promise<number> => (await mailings())[0]?.progress.total ?? 0;

  it("by SIGKILL and by SIGINT, goes on when it is repeated, and mails each recipient once", async function () {
    this.timeout(600_000);
    // Slow enough that a part of the file has been added, and another part has not been sent.
    const proxy = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(service.url).port) });
    const slowness = { latencyMs: 0, bytesPerSecond: 400_000 };
    proxy.slowDown(slowness);
    const slow = `http://127.0.0.1:${proxy.port}`;
    const killed = send(slow);
    await eventually(async () => expect(await added()).to.be.greaterThan(0), 120_000);
    killed.child.kill("SIGKILL");
    expect((await killed.exited)[1]).to.equal("SIGKILL");
    const afterKill = await added();
    expect(afterKill).to.be.within(1, recipients - 1);
    // What the process had said would arrive all the same.
    await proxy.cut();
    await proxy.restore();
    proxy.slowDown(slowness);

    const interrupted = send(slow);
    await eventually(() => expect(interrupted.told()).to.match(/^[\d,]+ of 2,100 recipients uploaded/m), 120_000);
    interrupted.child.kill("SIGINT");
    expect((await interrupted.exited)[0]).to.equal(130);
    expect(interrupted.told())
      .to.match(/Interrupted: [\d,]+ of 2,100 recipients uploaded\. Run the same command again to continue\./)
      .and.not.include("\n    at ");
    expect(stage.mailServer.mails).to.have.lengthOf(0);
    await proxy.stop();

    const killedWhileWaiting = send(service.url);
    await eventually(async () => expect((await mailings())[0]?.status).to.equal("processing"), 120_000);
    killedWhileWaiting.child.kill("SIGKILL");
    await killedWhileWaiting.exited;

    const last = send(service.url);
    expect((await last.exited)[0], last.told()).to.equal(0);
    const sent = JSON.parse(last.out());
    expect(sent).to.include({ recipients, duplicates: 0, isRepeat: true, status: "completed" });
    expect(sent.progress).to.include({ total: recipients, sent: recipients });
    const addresses = stage.mailServer.mails.flatMap(({ to }) => to);
    expect([addresses.length, new Set(addresses).size]).to.deep.equal([recipients, recipients]);
    expect((await mailings()).map(({ id }) => id)).to.deep.equal([sent.mailing]);
  });
});

type Shown = { readonly id: string; readonly status: string; readonly progress: { readonly total: number } };
